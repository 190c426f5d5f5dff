package io.queuestarter.handler;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchListenerFailedException;

import io.queuestarter.QueueBatchException;
import io.queuestarter.delivery.Attempt;

/**
 * What the exception of a handler says of the records of its batch.
 *
 * @param named what failed, by index; empty if the batch failed as a whole
 * @param reached records from this index on were not reached, unless they are named
 */
record BatchFailures(Map<Integer, Throwable> named, int reached) {

	private static final BatchFailures WHOLE = new BatchFailures(Map.of(), 0);

	static BatchFailures of(Throwable error, List<Attempt> records) {
		if (Failures.isOutOfMemory(error)) {
			return each(error, records.size());
		}
		BatchFailures failures = asked(error, records);
		boolean known = failures.named.keySet().stream().allMatch((index) -> index >= 0 && index < records.size());
		if (known && !failures.named.isEmpty()) {
			return failures;
		}
		return (records.size() == 1) ? each(error, 1) : WHOLE;
	}

	/** Asking an exception is user code: one that cannot answer names nothing. */
	private static BatchFailures asked(Throwable error, List<Attempt> records) {
		try {
			return told(error, records);
		}
		catch (Throwable ex) {
			return Failures.isOutOfMemory(ex) ? each(ex, records.size()) : WHOLE;
		}
	}

	private static BatchFailures told(Throwable error, List<Attempt> records) {
		for (Throwable current : Failures.chain(error)) {
			if (current instanceof QueueBatchException batch) {
				return new BatchFailures(batch.getFailures(), records.size());
			}
			if (current instanceof BatchListenerFailedException failed) {
				return upTo(failed, records);
			}
		}
		return WHOLE;
	}

	private static BatchFailures each(Throwable error, int size) {
		Map<Integer, Throwable> named = new HashMap<>();
		for (int index = 0; index < size; index++) {
			named.put(index, error);
		}
		return new BatchFailures(named, size);
	}

	private static BatchFailures upTo(BatchListenerFailedException failed, List<Attempt> records) {
		ConsumerRecord<?, ?> record = failed.getRecord();
		int index = (record != null) ? indexOf(record, records) : failed.getIndex();
		Throwable cause = failed.getCause();
		return new BatchFailures(Map.of(index, (cause != null) ? cause : failed), index);
	}

	private static int indexOf(ConsumerRecord<?, ?> record, List<Attempt> records) {
		for (int index = 0; index < records.size(); index++) {
			if (isSame(record, records.get(index).record())) {
				return index;
			}
		}
		return -1;
	}

	private static boolean isSame(ConsumerRecord<?, ?> record, @Nullable ConsumerRecord<?, ?> other) {
		return other != null && record.offset() == other.offset() && record.partition() == other.partition()
				&& record.topic().equals(other.topic());
	}

}
