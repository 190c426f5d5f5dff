package io.queuestarter.testkit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

import io.queuestarter.container.Queue;
import io.queuestarter.container.Queues;

/**
 * A Spring Boot application of a test, connected to the embedded broker.
 */
public final class QueueApp implements AutoCloseable {

	private final ConfigurableApplicationContext context;

	private QueueApp(ConfigurableApplicationContext context) {
		this.context = context;
	}

	/** Begins an application of the given beans or configurations. */
	public static Builder of(Class<?>... beans) {
		return new Builder(List.of(beans));
	}

	/** A bean. */
	public <T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	/** The application context. */
	public ConfigurableApplicationContext context() {
		return this.context;
	}

	/** A queue by its id. */
	public Queue queue(String id) {
		return bean(Queues.class).find(id).orElseThrow();
	}

	/** Awaits with the limit that all broker tests use. */
	public static ConditionFactory eventually() {
		return Awaitility.await()
			.atMost(java.time.Duration.ofSeconds(30))
			.pollInterval(java.time.Duration.ofMillis(20));
	}

	@Override
	public void close() {
		this.context.close();
	}

	/** Collects what an application is made of. */
	public static final class Builder {

		private static final List<String> SECURITY = List.of(
				"org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration",
				"org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration",
				"org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration",
				"org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
				"org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration");

		private final List<Class<?>> beans;

		private final Map<String, Object> properties = new LinkedHashMap<>();

		private WebApplicationType web = WebApplicationType.NONE;

		private final List<Consumer<GenericApplicationContext>> preparations = new ArrayList<>();

		Builder(List<Class<?>> beans) {
			this.beans = new ArrayList<>(beans);
			this.beans.add(0, Base.class);
			with("spring.kafka.bootstrap-servers", Broker.bootstrap());
			with("kafka-queue.defaults.ledger.commit-interval", "50ms");
			with("kafka-queue.defaults.retry.local.initial-interval", "20ms");
			// Tests fail records that are alone in their queue.
			with("kafka-queue.defaults.dlq.budget.patience", "0s");
			with("kafka-queue.defaults.dlq.budget.free", "1000000");
			with("kafka-queue.defaults.circuit-breaker.enabled", "false");
			// Tests hold handlers for as long as it takes.
			with("kafka-queue.defaults.blocking.enabled", "false");
			with("spring.main.banner-mode", "off");
		}

		/** Sets a property. */
		public Builder with(String name, Object value) {
			this.properties.put(name, value);
			return this;
		}

		/** Prepares the context, for instance with beans that the test makes. */
		public Builder prepare(Consumer<GenericApplicationContext> preparation) {
			this.preparations.add(preparation);
			return this;
		}

		/** Has it answer at a free port, without anybody asking who is there. */
		public Builder web() {
			with("spring.autoconfigure.exclude", String.join(",", SECURITY));
			return secured();
		}

		/** Has it answer at a free port, to those whom Spring Security lets in. */
		public Builder secured() {
			this.web = WebApplicationType.SERVLET;
			return with("server.port", "0").with("server.address", "localhost");
		}

		/** Starts the application. */
		public QueueApp start() {
			return new QueueApp(new SpringApplicationBuilder(this.beans.toArray(new Class<?>[0])).web(this.web)
				.properties(this.properties)
				.initializers((created) -> this.preparations
					.forEach((preparation) -> preparation.accept((GenericApplicationContext) created)))
				.run());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Base {

	}

}
