package io.queuestarter.actuate;

import java.util.Map;

import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

import io.queuestarter.QueueListener;
import io.queuestarter.QueuePayloadMask;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Http;
import io.queuestarter.testkit.Http.Answer;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who is shown what dead letters carry. Anybody may reach the endpoint; 'ops' has a role,
 * 'dev' has another.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PayloadAccessTests {

	private final String topic = Broker.newTopic("payloads", 1);

	@BeforeAll
	void writeDeadLetters() {
		Broker.createTopic(this.topic + "-dlq", 1, Map.of());
		ProducerRecord<byte[], byte[]> text = new ProducerRecord<>(this.topic + "-dlq", 0, Broker.bytes("card-7"),
				Broker.bytes("secret amount " + "1".repeat(2000)));
		text.headers()
			.add("tenant", Broker.bytes("secret tenant"))
			.add(KafkaHeaders.DLT_EXCEPTION_FQCN, Broker.bytes("com.acme.Declined"))
			.add(KafkaHeaders.DLT_EXCEPTION_MESSAGE, Broker.bytes("secret message"));
		Broker.send(text);
		Broker.send(new ProducerRecord<>(this.topic + "-dlq", 0, null, new byte[] { 0, 1, (byte) 0xff }));
	}

	@ParameterizedTest
	@CsvSource({ "never, '', ops, false", "always, '', '', true", "when-authorized, '', '', false",
			"when-authorized, '', dev, true", "when-authorized, OPS, dev, false", "when-authorized, OPS, ops, true",
			"always, OPS, dev, true" })
	void M5_payloadsAreShownToWhomTheyAreAllowed(String show, String roles, String user, boolean shown) {
		try (QueueApp app = app(show).with("kafka-queue.dlq.roles", roles).start()) {
			Http http = user.isEmpty() ? Http.actuator(app) : Http.actuator(app).as(user);

			Answer page = http.get("queuedlq/billing");
			Answer record = http.get("queuedlq/billing/0/0");
			Answer contains = http.get("queuedlq/billing?contains=amount");

			assertThat(page.status()).isEqualTo(200);
			assertThat(page.at("/records/0/masked")).isEqualTo(Boolean.toString(!shown));
			assertThat(record.at("/masked")).isEqualTo(Boolean.toString(!shown));
			if (shown) {
				assertThat(page.at("/records/0/payload")).startsWith("secret amount 1").hasSize(1024);
				assertThat(page.at("/records/0/truncated")).isEqualTo("true");
				assertThat(page.at("/records/0/key")).isEqualTo("card-7");
				assertThat(page.at("/records/1/payload")).isEqualTo("AAH/");
				assertThat(page.at("/records/1/encoding")).isEqualTo("base64");
				assertThat(record.at("/payload")).hasSize(2014);
				assertThat(record.body()).contains("secret tenant", "secret message");
				assertThat(contains.at("/matched")).isEqualTo("1");
			}
			else {
				assertThat(page.body() + record.body()).doesNotContain("secret", "card-7", "AAH/");
				assertThat(page.at("/records/0/key")).isEqualTo("***");
				assertThat(page.at("/records/0/exception/type")).isEqualTo("com.acme.Declined");
				assertThat(contains.status()).isEqualTo(403);
			}
		}
	}

	@Test
	void whatIsShownIsMaskedAsAWhole() {
		try (QueueApp app = app("always")
			.prepare((context) -> context.registerBean(QueuePayloadMask.class, () -> (queue, part, text) -> {
				if (part.equals("key")) {
					throw new IllegalStateException(text);
				}
				return queue + " " + part + " " + text.length();
			}))
			.start()) {
			Answer page = Http.actuator(app).get("queuedlq/billing");

			assertThat(page.body()).doesNotContain("secret", "card-7", "AAH/");
			assertThat(page.at("/records/0/payload")).isEqualTo("billing payload 2014");
			assertThat(page.at("/records/0/exception/message")).isEqualTo("billing exception 14");
			assertThat(page.at("/records/0/headers/0/value")).isEqualTo("billing header:tenant 13");
			assertThat(page.at("/records/0/key")).isEqualTo("***");
			assertThat(page.at("/records/0/masked")).isEqualTo("true");
			assertThat(page.json().at("/records/1/payload").isNull()).isTrue();
			assertThat(page.at("/records/1/payloadSize")).isEqualTo("3");
		}
	}

	private QueueApp.Builder app(String show) {
		return QueueApp.of(Handlers.class, Security.class)
			.secured()
			.with("topic", this.topic)
			.with("management.endpoints.web.exposure.include", "queuedlq")
			.with("kafka-queue.dlq.show-payloads", show);
	}

	static class Handlers {

		@QueueListener(id = "billing", topics = "${topic}", groupId = "payloads")
		void billing(String trip) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Security {

		@Bean
		SecurityFilterChain security(HttpSecurity http) {
			return http.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
				.httpBasic(Customizer.withDefaults())
				.build();
		}

		@Bean
		UserDetailsService users() {
			return new InMemoryUserDetailsManager(User.withUsername("ops").password("{noop}ops").roles("OPS").build(),
					User.withUsername("dev").password("{noop}dev").roles("DEV").build());
		}

	}

}
