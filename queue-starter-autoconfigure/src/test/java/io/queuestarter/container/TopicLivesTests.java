package io.queuestarter.container;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.DescribeTopicsResult;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.internals.KafkaFutureImpl;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.anyCollection;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * What a broker says of a topic, and what of it is a proof that the topic is another one.
 */
class TopicLivesTests {

	private static final TopicPartition P0 = new TopicPartition("orders", 0);

	private static final TopicPartition P3 = new TopicPartition("orders", 3);

	private static final Uuid FIRST = Uuid.randomUuid();

	private static final Uuid SECOND = Uuid.randomUuid();

	private final Admin admin = mock();

	private final DescribeTopicsResult topics = mock();

	private final DescribeClusterResult cluster = mock();

	private final TopicLives lives = new TopicLives("queue", () -> this.admin);

	private final PartitionLives partitions = new PartitionLives(this.lives);

	@BeforeEach
	void answer() {
		given(this.admin.describeTopics(anyCollection())).willReturn(this.topics);
		given(this.admin.describeCluster()).willReturn(this.cluster);
		given(this.cluster.clusterId()).willReturn(KafkaFuture.completedFuture("cluster"));
		begin(0);
		see(FIRST, 3);
	}

	@Test
	void anotherIdIsAnotherLife() {
		assertThat(this.partitions.renew()).isEmpty();

		see(SECOND, 3);

		assertThat(this.partitions.current(commit())).isEmpty();
		assertThat(this.partitions.renew()).containsExactly(P0);
		assertThat(this.partitions.renew()).isEmpty();
		assertThat(this.partitions.current(commit())).isEqualTo(commit());
	}

	@Test
	void anIdOfThePastIsNoOtherLife() {
		see(SECOND, 3);
		this.partitions.renew();

		see(FIRST, 3);
		see(SECOND, 3);

		assertThat(this.partitions.renew()).isEmpty();
	}

	@Test
	void aTopicThatIsMissingIsNotCommittedUntilItIsBack() {
		miss();

		assertThat(this.partitions.current(commit())).isEmpty();
		assertThat(this.partitions.renew()).isEmpty();
		see(FIRST, 3);
		assertThat(this.partitions.current(commit())).isEqualTo(commit());
		assertThat(this.partitions.renew()).isEmpty();
	}

	@Test
	void aPartitionAssignedAfterItsTopicWasMissingBelongsToTheNewLife() {
		miss();
		this.partitions.end(List.of(P0));
		answerWith(SECOND, 3);

		assertThat(begin(0)).containsExactly(P0);

		assertThat(this.partitions.renew()).isEmpty();
		assertThat(this.partitions.current(commit())).isEqualTo(commit());
	}

	@Test
	void aPartitionThatTheClientHasBegunAnewIsNotBegunAgain() {
		this.partitions.begunAnew(P0);

		see(SECOND, 3);

		assertThat(this.partitions.renew()).isEmpty();
	}

	@Test
	void anotherClusterIsNoOtherLife() {
		given(this.cluster.clusterId()).willReturn(KafkaFuture.completedFuture("standby"));

		see(SECOND, 3);

		assertThat(this.partitions.renew()).isEmpty();
	}

	@Test
	void aBrokerWithoutIdsTellsNothing() {
		see(Uuid.ZERO_UUID, 3);

		assertThat(this.partitions.renew()).isEmpty();
	}

	@Test
	void onlyPartitionsThatWereNotThereAtFirstAreNew() {
		answerWith(FIRST, 6);

		assertThat(begin(0)).isEmpty();
		assertThat(begin(3)).containsExactly(P3);
	}

	@Test
	void aPartitionWithAnOffsetOrWhoseOffsetIsNotKnownIsNotReadFromItsBeginning() {
		answerWith(FIRST, 6);

		assertThat(this.partitions.begin(List.of(P3), Map.of(P3, new OffsetAndMetadata(7)))).isEmpty();
		assertThat(this.partitions.begin(List.of(P3), Map.of())).isEmpty();
	}

	private List<TopicPartition> begin(int partition) {
		TopicPartition begun = new TopicPartition("orders", partition);
		Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
		committed.put(begun, null);
		return this.partitions.begin(List.of(begun), committed);
	}

	private static Map<TopicPartition, OffsetAndMetadata> commit() {
		return Map.of(P0, new OffsetAndMetadata(5));
	}

	private void see(Uuid id, int count) {
		answerWith(id, count);
		this.lives.await(List.of("orders"), Duration.ZERO);
	}

	private void answerWith(Uuid id, int count) {
		List<TopicPartitionInfo> infos = IntStream.range(0, count)
			.mapToObj((partition) -> new TopicPartitionInfo(partition, null, List.of(), List.of()))
			.toList();
		answerWith(new TopicDescription("orders", false, infos, null, id), null);
	}

	private void miss() {
		answerWith(null, new UnknownTopicOrPartitionException());
		this.lives.await(List.of("orders"), Duration.ZERO);
	}

	private void answerWith(@Nullable TopicDescription description, @Nullable Throwable error) {
		KafkaFutureImpl<TopicDescription> answer = new KafkaFutureImpl<>();
		if (error != null) {
			answer.completeExceptionally(error);
		}
		else {
			answer.complete(description);
		}
		given(this.topics.topicNameValues()).willReturn(Map.of("orders", answer));
	}

}
