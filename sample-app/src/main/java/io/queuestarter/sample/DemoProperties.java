package io.queuestarter.sample;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Pace of the story.
 *
 * @param rate Trips a second, half of them of each card.
 * @param fast Latency of a provider that is well.
 * @param slow Latency of Visa when it is not.
 * @param calm How long an act shows both providers fast.
 * @param rush How long an act shows Visa slow.
 * @param tick Time between two lines of the live table.
 * @param patience Longest wait for what must happen, such as a dead letter.
 */
@ConfigurationProperties("demo")
record DemoProperties(int rate, Duration fast, Duration slow, Duration calm, Duration rush, Duration tick,
		Duration patience) {

}
