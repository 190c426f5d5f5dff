package io.queuestarter.sample;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.queuestarter.QueueContext;
import io.queuestarter.QueueListener;

/**
 * A queue whose topic production and a test build share, each in a lane of its own. See
 * {@code kafka-queue} in application.yml.
 */
@Component
@Profile("lanes")
class LanesQueue {

	static final String ID = "billing-lanes";

	static final String TOPIC = "trips-lanes";

	/** Where trips of a lane go that fills the window. */
	static final String PARK_TOPIC = TOPIC + "-park";

	private final ProductionBuild production;

	private final BrokenBuild test;

	LanesQueue(ProductionBuild production, BrokenBuild test) {
		this.production = production;
		this.test = test;
	}

	@QueueListener(id = ID, topics = TOPIC, groupId = ID, autoStartup = "false")
	void charge(ConsumerRecord<String, Trip> trip, QueueContext context) throws InterruptedException {
		String tenancy = Tenancy.in(trip.headers());
		if (context.lane().equals(Tenancy.TEST.label())) {
			this.test.charge(trip.value(), tenancy);
		}
		else {
			this.production.charge(trip.value(), tenancy);
		}
	}

	/** Dead-letter topic of a lane. */
	static String deadLetterTopic(Tenancy lane) {
		return (lane == Tenancy.TEST) ? TOPIC + "-test-dlq" : TOPIC + "-dlq";
	}

}
