package io.queuestarter.autoconfigure;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.queuestarter.QueueConfigurationException;
import io.queuestarter.browse.SearchSettings;
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
 * @param dlq How dead letters are browsed.
 * @param metrics How meters are sampled.
 * @param mdc What log lines of handlers carry.
 * @param propagation What records sent by handlers carry.
 */
@ConfigurationProperties(prefix = "kafka-queue", ignoreUnknownFields = false)
public record KafkaQueueProperties(@DefaultValue("true") boolean enabled,
		@NestedConfigurationProperty @Nullable QueueProperties defaults,
		@Nullable Map<String, QueueProperties> listeners, @DefaultValue Doctor doctor, @DefaultValue Dlq dlq,
		@DefaultValue Metrics metrics, @DefaultValue Mdc mdc, @DefaultValue Propagation propagation) {

	@Nullable QueueProperties listener(String id) {
		return (this.listeners != null) ? this.listeners.get(id) : null;
	}

	/** Whether a header tells lanes of any queue. */
	boolean hasLanes() {
		return Stream
			.concat(Stream.ofNullable(this.defaults),
					Stream.ofNullable(this.listeners).flatMap((queues) -> queues.values().stream()))
			.map(QueueProperties::lanes)
			.anyMatch((lanes) -> lanes != null && lanes.header() != null);
	}

	private static void require(boolean condition, String key, Object value, String action) {
		if (!condition) {
			throw new QueueConfigurationException("kafka-queue." + key + " is " + value + ".", action);
		}
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
			require(!this.interval.isNegative() && !this.interval.isZero(), "doctor.interval", this.interval,
					"Set a duration above 0.");
			require(this.retentionShare > 0 && this.retentionShare <= 1, "doctor.retention-share", this.retentionShare,
					"Set a number above 0 and at most 1.");
			require(!this.commitsFailing.isNegative(), "doctor.commits-failing", this.commitsFailing,
					"Set a duration of 0 or more.");
			require(!this.watermarkStuck.isNegative(), "doctor.watermark-stuck", this.watermarkStuck,
					"Set a duration of 0 or more.");
			return new DoctorSettings(this.interval, this.retentionShare, this.commitsFailing, this.watermarkStuck);
		}

	}

	/**
	 * How dead letters are browsed and merged.
	 *
	 * @param showPayloads When payloads, keys and headers of dead letters are shown.
	 * @param roles Roles, one of which a user needs to be shown payloads when authorized;
	 * any authenticated user unless set.
	 * @param maxMerges Largest number of times that a dead letter is merged; beyond it it
	 * stays where it is.
	 * @param mergeRate Dead letters merged a second, unless the request says otherwise; 0
	 * for no limit.
	 * @param search Bounds of a search.
	 */
	public record Dlq(@DefaultValue("never") ShowPayloads showPayloads, @DefaultValue Set<String> roles,
			@DefaultValue("3") int maxMerges, @DefaultValue("50") int mergeRate, @DefaultValue Search search) {

		int validMaxMerges() {
			require(this.maxMerges > 0, "dlq.max-merges", this.maxMerges, "Set a whole number above 0.");
			return this.maxMerges;
		}

		int validMergeRate() {
			require(this.mergeRate >= 0, "dlq.merge-rate", this.mergeRate, "Set a whole number, 0 for no limit.");
			return this.mergeRate;
		}

	}

	/**
	 * When payloads are shown.
	 */
	public enum ShowPayloads {

		/** Never. */
		NEVER,

		/** To users who are authenticated and have one of the roles. */
		WHEN_AUTHORIZED,

		/** To whoever reaches the endpoint. */
		ALWAYS

	}

	/**
	 * Bounds of a search.
	 *
	 * @param maxScan Largest number of records read for one answer.
	 * @param timeout Longest time that an answer takes.
	 * @param pageSize Dead letters of an answer, unless the request says otherwise.
	 */
	public record Search(@DefaultValue("10000") int maxScan, @DefaultValue("10s") Duration timeout,
			@DefaultValue("20") int pageSize) {

		SearchSettings settings() {
			require(this.maxScan > 0, "dlq.search.max-scan", this.maxScan, "Set a whole number above 0.");
			require(!this.timeout.isNegative() && !this.timeout.isZero(), "dlq.search.timeout", this.timeout,
					"Set a duration above 0.");
			require(this.pageSize > 0 && this.pageSize <= SearchSettings.MAX_PAGE, "dlq.search.page-size",
					this.pageSize, "Set a whole number from 1 to " + SearchSettings.MAX_PAGE + ".");
			return new SearchSettings(this.maxScan, this.timeout, this.pageSize);
		}

	}

	/**
	 * How meters are sampled.
	 *
	 * @param dlqDepthInterval Time between two counts of the dead letters that are not
	 * resolved.
	 */
	public record Metrics(@DefaultValue("30s") Duration dlqDepthInterval) {

		Duration validDlqDepthInterval() {
			require(!this.dlqDepthInterval.isNegative() && !this.dlqDepthInterval.isZero(),
					"metrics.dlq-depth-interval", this.dlqDepthInterval, "Set a duration above 0.");
			return this.dlqDepthInterval;
		}

	}

	/**
	 * What log lines of handlers carry.
	 *
	 * @param enabled Whether the MDC tells queue, topic, partition, offset, attempt, lane
	 * and zone while a handler runs.
	 */
	public record Mdc(@DefaultValue("true") boolean enabled) {

	}

	/**
	 * What records sent by handlers carry.
	 *
	 * @param enabled Whether records that a handler sends get the headers that tell lane
	 * and zone of the record it handles, if queues have lanes.
	 */
	public record Propagation(@DefaultValue("true") boolean enabled) {

	}

}
