package io.queuestarter.sample;

import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/**
 * The usual listener: one record after the other.
 */
@Component
class NativeListener {

	private final Billing billing;

	NativeListener(Billing billing) {
		this.billing = billing;
	}

	@KafkaListener(id = "billing-native", topics = "trips-native", autoStartup = "false")
	void charge(Trip trip) throws InterruptedException {
		this.billing.charge(trip);
	}

}
