package io.queuestarter.sample;

import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/**
 * What comes after the story: the queue goes on billing and can be asked and disturbed.
 */
@Component
final class Epilogue {

	private final Console console;

	private final Environment environment;

	Epilogue(Console console, Environment environment) {
		this.console = console;
		this.environment = environment;
	}

	void begin() {
		String address = "localhost:" + this.environment.getProperty("local.server.port");
		String id = Design.QUEUE.listener();
		this.console.title("The queue goes on billing. Ask it:");
		this.console.say("curl %s/actuator/queues", address);
		this.console.say("curl %s/actuator/queues/%s", address, id);
		this.console.say("curl %s/actuator/health", address);
		this.console.say("curl %s/actuator/metrics/kafka.queue.in.flight", address);
		this.console.title("Disturb it, and ask again:");
		this.console.say("curl %s/providers", address);
		this.console.say("curl -X POST '%s/providers/visa?latency=5s&failures=0.1'", address);
		this.console.gap();
		this.console.say("Ctrl+C ends it.");
	}

}
