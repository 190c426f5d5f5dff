package io.queuestarter.sample;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * What {@code --outage} plays.
 *
 * @param rate Trips a second, half of them of each card.
 * @param poisonEvery One trip of so many is poison.
 * @param before How long both providers are well first.
 * @param seconds How many seconds Visa is down.
 * @param patience Longest wait for what must happen after that, such as the last dead
 * letter.
 */
@ConfigurationProperties("outage")
record OutageProperties(int rate, int poisonEvery, Duration before, int seconds, Duration patience) {

	Load load() {
		return new Load(this.rate, this.poisonEvery);
	}

	/** Parts of the outage, of at least ten seconds each if it is that long. */
	int stretches() {
		return Math.max(1, this.seconds / 10);
	}

	Duration down() {
		return Duration.ofSeconds(this.seconds);
	}

}
