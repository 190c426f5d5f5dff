package io.queuestarter.autoconfigure;

import java.time.Duration;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.queuestarter.QueueConfigurationException;
import io.queuestarter.observe.DoctorSettings;

/**
 * Properties of all queues. Unknown keys fail start-up.
 *
 * @param enabled Whether methods annotated with QueueListener are served.
 * @param defaults Settings of queues that neither say otherwise in their annotation nor
 * under 'kafka-queue.listeners'.
 * @param listeners Settings by queue id; they beat annotation and defaults. An id with
 * other characters than letters, digits and '-' stands in brackets: "[orders.v1]".
 * @param doctor What is looked for that threatens the promises of queues.
 */
@ConfigurationProperties(prefix = "kafka-queue", ignoreUnknownFields = false)
public record KafkaQueueProperties(@DefaultValue("true") boolean enabled,
		@NestedConfigurationProperty @Nullable QueueProperties defaults,
		@Nullable Map<String, QueueProperties> listeners, @DefaultValue Doctor doctor) {

	@Nullable QueueProperties listener(String id) {
		return (this.listeners != null) ? this.listeners.get(id) : null;
	}

	/**
	 * What is looked for that threatens the promises of queues.
	 *
	 * @param interval Time between two looks at the brokers' logs.
	 * @param retentionShare Share of a topic's retention, above 0 and at most 1, at whose
	 * age a record that is not settled is reported.
	 * @param commitsFailing Time without a successful commit, while commits fail, that is
	 * reported.
	 * @param watermarkStuck Time without progress of a partition, while it has lag, that
	 * is reported.
	 */
	public record Doctor(@DefaultValue("30s") Duration interval, @DefaultValue("0.75") double retentionShare,
			@DefaultValue("1m") Duration commitsFailing, @DefaultValue("5m") Duration watermarkStuck) {

		DoctorSettings settings() {
			require(!this.interval.isNegative() && !this.interval.isZero(), "interval", this.interval,
					"Set a duration above 0.");
			require(this.retentionShare > 0 && this.retentionShare <= 1, "retention-share", this.retentionShare,
					"Set a number above 0 and at most 1.");
			require(!this.commitsFailing.isNegative(), "commits-failing", this.commitsFailing,
					"Set a duration of 0 or more.");
			require(!this.watermarkStuck.isNegative(), "watermark-stuck", this.watermarkStuck,
					"Set a duration of 0 or more.");
			return new DoctorSettings(this.interval, this.retentionShare, this.commitsFailing, this.watermarkStuck);
		}

		private static void require(boolean condition, String key, Object value, String action) {
			if (!condition) {
				throw new QueueConfigurationException("kafka-queue.doctor." + key + " is " + value + ".", action);
			}
		}

	}

}
