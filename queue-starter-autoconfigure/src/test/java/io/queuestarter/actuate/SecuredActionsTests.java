package io.queuestarter.actuate;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.EndpointRequest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.util.matcher.AndRequestMatcher;
import org.springframework.security.web.util.matcher.RequestHeaderRequestMatcher;

import io.queuestarter.QueueListener;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Http;
import io.queuestarter.testkit.Http.Answer;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The recipe of the guide for Spring Security: 'dev' may look, 'ops' may act as well.
 */
class SecuredActionsTests {

	private final String topic = Broker.newTopic("secured", 1);

	@Test
	void M5_whoMayLookMayNotAct() {
		writeDeadLetter();
		try (QueueApp app = app(Recipe.class)) {
			Http nobody = Http.actuator(app);
			Http dev = nobody.as("dev");
			Http ops = nobody.as("ops");

			for (String path : List.of("queuedlq", "queuedlq/billing", "queuedlq/billing/0/0", "queuejobs")) {
				assertThat(nobody.get(path).status()).as(path).isEqualTo(401);
				assertThat(dev.get(path).status()).as(path).isEqualTo(200);
				assertThat(ops.get(path).status()).as(path).isEqualTo(200);
			}
			// Without credentials in the request it might be a foreign page that asks.
			assertThat(merge(nobody).status()).isEqualTo(403);
			assertThat(nobody.delete("queuejobs/j0").status()).isEqualTo(403);
			assertThat(merge(dev).status()).isEqualTo(403);
			assertThat(dev.delete("queuejobs/j0").status()).isEqualTo(403);
			assertThat(ops.get("queuejobs").json().at("/jobs")).isEmpty();

			Answer answer = merge(ops);
			assertThat(answer.status()).as(answer.body()).isEqualTo(202);
			assertThat(answer.at("/job/by")).isEqualTo("ops");
			String job = "queuejobs/" + answer.at("/job/id");
			QueueApp.eventually().until(() -> dev.get(job).at("/status").equals("COMPLETED"));
			assertThat(ops.delete(job).status()).isEqualTo(409);
			Audited audited = app.bean(Audited.class);
			QueueApp.eventually().until(() -> audited.events.size() == 2);
			assertThat(audited.events).extracting(AuditEvent::getPrincipal).containsOnly("ops");
		}
	}

	@Test
	void springSecurityRefusesEveryPostWithoutTokenUnlessTheEndpointIsExempt() {
		writeDeadLetter();
		try (QueueApp app = app(WithoutExemption.class)) {
			Http ops = Http.actuator(app).as("ops");

			assertThat(ops.get("queuedlq/billing").status()).isEqualTo(200);
			assertThat(merge(ops).status()).isEqualTo(403);
		}
	}

	private static Answer merge(Http http) {
		return http.post("queuedlq/billing", Map.of("action", "merge", "exception", "Declined", "dryRun", false));
	}

	private void writeDeadLetter() {
		Broker.createTopic(this.topic + "-dlq", 1, Map.of());
		ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(this.topic + "-dlq", 0, Broker.bytes("key"),
				Broker.bytes("trip"));
		record.headers()
			.add(KafkaHeaders.DLT_ORIGINAL_TOPIC, Broker.bytes(this.topic))
			.add(KafkaHeaders.DLT_EXCEPTION_FQCN, Broker.bytes("com.acme.Declined"));
		Broker.send(record);
	}

	private QueueApp app(Class<?> security) {
		return QueueApp.of(Handlers.class, Users.class, Audited.class, security)
			.secured()
			.with("topic", this.topic)
			.with("management.endpoints.web.exposure.include", "queuedlq,queuejobs")
			.with("management.endpoint.queuedlq.access", "unrestricted")
			.with("management.endpoint.queuejobs.access", "unrestricted")
			.start();
	}

	static class Handlers {

		@QueueListener(id = "billing", topics = "${topic}", groupId = "${topic}")
		void billing(String trip) {
		}

	}

	static class Audited {

		private final List<AuditEvent> events = new CopyOnWriteArrayList<>();

		@EventListener
		void keep(AuditApplicationEvent event) {
			if (event.getAuditEvent().getType().startsWith("QUEUE_JOB_")) {
				this.events.add(event.getAuditEvent());
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Users {

		@Bean
		UserDetailsService users() {
			return new InMemoryUserDetailsManager(User.withUsername("ops").password("{noop}ops").roles("OPS").build(),
					User.withUsername("dev").password("{noop}dev").roles("DEV").build());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Recipe {

		@Bean
		SecurityFilterChain actuator(HttpSecurity http) {
			return http.securityMatcher(EndpointRequest.toAnyEndpoint())
				.authorizeHttpRequests((requests) -> requests
					.requestMatchers(EndpointRequest.to("queuedlq").withHttpMethod(HttpMethod.POST),
							EndpointRequest.to("queuejobs").withHttpMethod(HttpMethod.DELETE))
					.hasRole("OPS")
					.anyRequest()
					.hasAnyRole("OPS", "DEV"))
				.httpBasic(Customizer.withDefaults())
				.csrf((csrf) -> csrf
					.ignoringRequestMatchers(new AndRequestMatcher(EndpointRequest.to("queuedlq", "queuejobs"),
							new RequestHeaderRequestMatcher(HttpHeaders.AUTHORIZATION))))
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WithoutExemption {

		@Bean
		SecurityFilterChain actuator(HttpSecurity http) {
			return http.securityMatcher(EndpointRequest.toAnyEndpoint())
				.authorizeHttpRequests((requests) -> requests.anyRequest().hasRole("OPS"))
				.httpBasic(Customizer.withDefaults())
				.build();
		}

	}

}
