package io.queuestarter.intake;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

import io.queuestarter.context.ContextRules;
import io.queuestarter.context.HeaderNames;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.ByteBudget;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.Stage;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.ledger.PartitionLedger;
import io.queuestarter.testkit.ManualClock;
import io.queuestarter.testkit.Records;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Two lanes, and no worker can be started for the first.
 */
class IntakeLanesTests {

	private static final Runnable NOBODY = () -> {
	};

	@Test
	void laneWhoseWorkersCannotBeStartedKeepsNoRecordFromAnother() {
		Dispatcher<Delivery> prod = new Dispatcher<>(1, 0, (worker) -> {
			throw new RejectedExecutionException("No thread");
		}, (task, slot) -> true, NOBODY);
		Dispatcher<Delivery> test = new Dispatcher<>(1, 0, (worker) -> {
		}, (task, slot) -> true, NOBODY);
		ContextRules rules = new ContextRules(new HeaderNames("tenancy", Map.of(), null), List.of("prod", "test"),
				"prod", List.of("prod", "test"), null, null);
		IntakeLanes lanes = new IntakeLanes(rules, List.of(prod, test), Foreign.HOLD, ZoneRule.NONE,
				IntakeLanes.Actions.NONE);
		Assignment assignment = new Assignment(Records.partition(0), Stage.source("orders"),
				new PartitionLedger<>(10, 0, OffsetRanges.EMPTY), 0, -1, lanes.open(0), new ByteBudget(1 << 20, NOBODY),
				new ByteBudget(1 << 20, NOBODY), NOBODY);
		List<Delivery> admitted = List.of(admit(assignment, rules, 0, "prod"), admit(assignment, rules, 1, "test"));

		assertThatThrownBy(() -> lanes.submit(assignment, admitted, new ManualClock())).hasMessage("No thread");

		assertThat(prod.waiting()).isOne();
		assertThat(test.waiting()).isOne();
	}

	private static Delivery admit(Assignment assignment, ContextRules rules, long offset, String lane) {
		ConsumerRecord<byte[], byte[]> record = Records.record(Records.partition(0), offset, 10);
		record.headers().add("tenancy", lane.getBytes(StandardCharsets.UTF_8));
		return assignment.admit(record, rules.of(record.headers()), 0);
	}

}
