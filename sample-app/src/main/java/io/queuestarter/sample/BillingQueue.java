package io.queuestarter.sample;

import org.springframework.stereotype.Component;

import io.queuestarter.QueueListener;

/**
 * The queue: reads like the plain listener, and every trip is handled and settled on its
 * own. See {@code kafka-queue} in application.yml.
 */
@Component
class BillingQueue {

	private final Billing billing;

	BillingQueue(Billing billing) {
		this.billing = billing;
	}

	@QueueListener(id = "billing-queue", topics = "trips-queue", groupId = "billing-queue", autoStartup = "false")
	void charge(Trip trip) throws InterruptedException {
		this.billing.charge(trip);
	}

}
