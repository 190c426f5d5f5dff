package io.queuestarter.container;

import java.util.Map;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Journal;
import io.queuestarter.testkit.Trial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The group's offset was committed by another tool, with metadata that is no acked set. A
 * queue that takes over must start at the offset, run every record from there on, and say
 * once that it does not understand the metadata.
 */
@Tag("threads")
@ExtendWith(OutputCaptureExtension.class)
class CommitMetadataTests {

	@ParameterizedTest
	@ValueSource(strings = { "hello", "\u0001\u0000\u0007", "AQAAAZ2k3ul_", "qs2r!!", "qs3rAAEC" })
	void X18_foreignMetadataIsIgnoredWithOneWarningAndTheOffsetHonoured(String metadata, CapturedOutput output) {
		try (Trial trial = Trial.on("foreign", 1)) {
			trial.send(1, 20);
			for (long offset = 0; offset < 5; offset++) {
				trial.journal().settle(trial.partition(0), offset);
			}
			Broker.await(Broker.admin()
				.alterConsumerGroupOffsets(trial.topic(),
						Map.of(trial.partition(0), new OffsetAndMetadata(5, metadata)))
				.all());

			trial.start();

			trial.awaitHandled(15);
			trial.awaitCommitted(20);
			assertThat(Journal.offsets(trial.journal().started())).hasSize(15).startsWith(5L).doesNotHaveDuplicates();
			assertThat(trial.metadata(0)).isEmpty();
			assertThat(output.getAll().split("was not written by a queue of this version and is ignored", -1))
				.hasSize(2);
		}
	}

}
