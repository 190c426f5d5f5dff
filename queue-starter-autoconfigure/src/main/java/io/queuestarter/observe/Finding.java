package io.queuestarter.observe;

import java.time.Instant;

/**
 * Something that threatens what a queue promises.
 *
 * @param kind what it is
 * @param topic topic of the partition that is affected
 * @param partition number of the partition
 * @param offset lowest offset that is affected
 * @param since since when it is so
 * @param text what it means, for operators
 */
public record Finding(Kind kind, String topic, int partition, long offset, Instant since, String text) {

	/**
	 * Kinds of findings.
	 */
	public enum Kind {

		/** The broker may soon delete the oldest record that is not settled. */
		RETENTION,

		/** What is settled cannot be committed. */
		COMMITS_FAILING,

		/** There is lag, and the watermark does not move. */
		WATERMARK_STUCK;

		/**
		 * As the value of a tag.
		 * @return lower case with underscores
		 */
		public String tag() {
			return name().toLowerCase(java.util.Locale.ROOT);
		}

	}

	@Override
	public String toString() {
		return this.topic + "-" + this.partition + "@" + this.offset + ": " + this.text + " (since " + this.since + ")";
	}

}
