package io.queuestarter.sample;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * What {@code --lanes} plays.
 *
 * @param rate Trips a second of production.
 * @param flood Trips a second of the broken test build.
 * @param warmUp How long production is alone before it is measured.
 * @param before How long production is alone and measured.
 * @param seconds How many seconds the test build floods the topic.
 * @param slack What production's p99 may be longer beside a tenth of it.
 * @param patience Longest wait for what must happen after that.
 */
@ConfigurationProperties("lanes")
record LanesProperties(int rate, int flood, Duration warmUp, Duration before, int seconds, Duration slack,
		Duration patience) {

	Duration flooded() {
		return Duration.ofSeconds(this.seconds);
	}

}
