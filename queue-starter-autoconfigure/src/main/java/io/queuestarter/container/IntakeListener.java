package io.queuestarter.container;

import java.util.List;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.support.Acknowledgment;

/**
 * What the container calls with a poll's records: hands them to the gate and returns at
 * once. The container's acknowledgment is left alone. Consumer thread only.
 */
final class IntakeListener implements BatchMessageListener<byte[], byte[]> {

	@Override
	public boolean wantsPollResult() {
		return true;
	}

	@Override
	public void onMessage(ConsumerRecords<byte[], byte[]> records, @Nullable Acknowledgment acknowledgment,
			Consumer<byte[], byte[]> consumer) {
		((GatedConsumer) consumer).gate().accept(records);
	}

	@Override
	public void onMessage(List<ConsumerRecord<byte[], byte[]>> records) {
		throw new IllegalStateException("The container must pass on whole poll results");
	}

}
