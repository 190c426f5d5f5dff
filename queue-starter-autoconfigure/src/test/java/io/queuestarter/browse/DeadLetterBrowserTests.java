package io.queuestarter.browse;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.kafka.support.KafkaHeaders;

import io.queuestarter.deadletter.DeadLetterHeaders;
import io.queuestarter.ledger.AckedSet;
import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a browser finds in dead-letter topics of a broker. Each test writes records to a
 * topic of its own, as a queue or somebody else would have dead-lettered them.
 */
class DeadLetterBrowserTests {

	private static final SearchSettings SETTINGS = new SearchSettings(10_000, Duration.ofSeconds(10), 20);

	private final DeadLetterBrowser browser = browser(SETTINGS);

	@Test
	void pagesFollowEachOtherWithoutGapOrRepeat() {
		String topic = Broker.newTopic("browse-pages", 3);
		Broker.sendNumbers(topic, 3, 25);

		List<String> found = new ArrayList<>();
		LetterPage<String> page = search(topic, LetterFilter.NONE, 10, null);
		found.addAll(page.records());
		assertThat(page.stoppedBy()).isEqualTo(StoppedBy.LIMIT);
		assertThat(page.records()).hasSize(10);
		while (page.nextCursor() != null) {
			page = search(topic, LetterFilter.NONE, 10, page.nextCursor());
			found.addAll(page.records());
		}

		assertThat(page.complete()).isTrue();
		assertThat(page.stoppedBy()).isEqualTo(StoppedBy.END);
		assertThat(found).hasSize(25).doesNotHaveDuplicates();
	}

	@Test
	void lastMatchAtTheEndOfTheLogCompletesTheSearch() {
		String topic = Broker.newTopic("browse-last", 1);
		Broker.sendNumbers(topic, 1, 2);

		LetterPage<String> page = search(topic, LetterFilter.NONE, 2, null);

		assertThat(page.records()).hasSize(2);
		assertThat(page.complete()).isTrue();
		assertThat(page.nextCursor()).isNull();
	}

	@Test
	void searchThatHasReadEnoughSaysSoAndGoesOnThere() {
		String topic = Broker.newTopic("browse-scan", 2);
		Broker.sendNumbers(topic, 2, 20);
		DeadLetterBrowser narrow = browser(new SearchSettings(15, Duration.ofSeconds(10), 20));
		LetterFilter none = LetterFilter.parse(Map.of("key", "nobody"));

		LetterPage<String> first = narrow.search(source(topic), new LetterSearch(none, false, 5, null), this::place);
		LetterPage<String> second = narrow.search(source(topic), new LetterSearch(none, false, 5, first.nextCursor()),
				this::place);

		assertThat(first.scanned()).isEqualTo(15);
		assertThat(first.stoppedBy()).isEqualTo(StoppedBy.MAX_SCAN);
		assertThat(first.complete()).isFalse();
		assertThat(second.scanned()).isEqualTo(5);
		assertThat(second.complete()).isTrue();
	}

	@Test
	void resolvedLettersAreLeftOutUnlessAskedFor() {
		String topic = Broker.newTopic("browse-resolved", 1);
		Broker.sendNumbers(topic, 1, 10);
		resolve("browse-resolved", topic, 3, 5, 6);

		LetterSource source = new LetterSource(Set.of(topic), "browse-resolved");
		LetterPage<String> open = this.browser.search(source, new LetterSearch(LetterFilter.NONE, false, 20, null),
				this::place);
		LetterPage<String> all = this.browser.search(source, new LetterSearch(LetterFilter.NONE, true, 20, null),
				this::place);

		assertThat(open.records()).containsExactly("0@3", "0@4", "0@7", "0@8", "0@9");
		assertThat(all.records()).hasSize(10).contains("0@0 resolved", "0@5 resolved", "0@7");
		assertThat(this.browser.depth(source).count()).isEqualTo(5);
	}

	@Test
	void whatTheLogNoLongerHoldsIsNeitherFoundNorCounted() {
		String topic = Broker.newTopic("browse-start", 1);
		Broker.sendNumbers(topic, 1, 10);
		Broker.await(Broker.admin()
			.deleteRecords(Map.of(new TopicPartition(topic, 0), RecordsToDelete.beforeOffset(6)))
			.all());

		assertThat(search(topic, LetterFilter.NONE, 20, null).records()).containsExactly("0@6", "0@7", "0@8", "0@9");
		assertThat(search(topic, LetterFilter.NONE, 20, topic + "/0:2").records()).hasSize(4);
		assertThat(find(topic, 0, 5)).isNull();
		assertThat(this.browser.depth(source(topic)).count()).isEqualTo(4);
	}

	@Test
	void markersOfTransactionsKeepNoSearchFromItsEnd() {
		String topic = Broker.newTopic("browse-markers", 1);
		transaction(topic, true, "a", "b");
		transaction(topic, false, "c");

		LetterPage<String> committed = browser(SETTINGS,
				Map.of(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed"))
			.search(source(topic), new LetterSearch(LetterFilter.NONE, false, 20, null), this::place);
		LetterPage<String> all = search(topic, LetterFilter.NONE, 20, null);

		assertThat(committed.records()).containsExactly("0@0", "0@1");
		assertThat(committed.complete()).isTrue();
		assertThat(all.records()).containsExactly("0@0", "0@1", "0@3");
		assertThat(all.complete()).isTrue();
		assertThat(find(topic, 0, 2)).isNull();
	}

	@Test
	void topicThatDoesNotExistHoldsNothing() {
		LetterPage<String> page = search("browse-nowhere-dlq", LetterFilter.NONE, 20, null);

		assertThat(page.records()).isEmpty();
		assertThat(page.complete()).isTrue();
		assertThat(this.browser.depth(source("browse-nowhere-dlq"))).isEqualTo(new LetterDepth(0, null));
		assertThat(find("browse-nowhere-dlq", 0, 0)).isNull();
		assertThat(Broker.partitionsOf("browse-nowhere-dlq")).isZero();
	}

	@Test
	void namedOffsetsAreReadWithoutTheOthers() {
		String topic = Broker.newTopic("browse-named", 2);
		Broker.sendNumbers(topic, 2, 200);

		LetterPage<String> page = search(topic, LetterFilter.parse(Map.of("offsets", "0@88,0@90-92,1@5")), 20, null);

		assertThat(page.records()).containsExactlyInAnyOrder("0@88", "0@90", "0@91", "0@92", "1@5");
		assertThat(page.scanned()).isEqualTo(6);
		assertThat(page.complete()).isTrue();
	}

	@Test
	void timeIsSoughtInTheLog() {
		String topic = Broker.newTopic("browse-time", 2);
		for (int i = 0; i < 10; i++) {
			Broker.send(new ProducerRecord<>(topic, 0, 1000L * i, null, Broker.bytes("v")));
		}

		LetterPage<String> page = search(topic,
				LetterFilter.parse(Map.of("from", "1970-01-01T00:00:07Z", "to", "1970-01-01T00:00:09Z")), 20, null);

		assertThat(page.records()).containsExactly("0@7", "0@8");
		assertThat(page.scanned()).isEqualTo(3);
	}

	@Test
	void oneLetterIsFoundByItsPlace() {
		String topic = Broker.newTopic("browse-one", 2);
		Broker.sendNumbers(topic, 2, 10);

		assertThat(find(topic, 1, 3)).isEqualTo("1@3");
		assertThat(find(topic, 1, 5)).isNull();
		assertThat(find(topic, 7, 0)).isNull();
	}

	@Test
	void overviewTellsWhatLiesThereAndOfHowManyItSpeaks() {
		String topic = Broker.newTopic("browse-overview", 2);
		Broker.send(letter(topic, 0, 1000, "nack", "com.acme.Declined"));
		Broker.send(letter(topic, 0, 2000, "nack", "com.acme.Declined"));
		Broker.send(letter(topic, 0, 3000, "timeout", "java.util.concurrent.TimeoutException"));
		Broker.send(new ProducerRecord<>(topic, 1, 5000L, null, Broker.bytes("foreign")));
		resolve("browse-overview", topic, 1);

		SourceOverview overview = this.browser
			.overview(List.of(new LetterSource(Set.of(topic, "browse-none-dlq"), "browse-overview")))
			.get(0);

		assertThat(overview.problem()).isNull();
		assertThat(overview.topics()).containsExactly(
				new TopicOverview("browse-none-dlq", 0, 0, null, null, Map.of(), Map.of(), 0),
				new TopicOverview(topic, 2, 3, Instant.ofEpochMilli(2000), Instant.ofEpochMilli(5000),
						Map.of("com.acme.Declined", 1L, "java.util.concurrent.TimeoutException", 1L, "unknown", 1L),
						Map.of("nack", 1L, "timeout", 1L, "unknown", 1L), 3));
	}

	@Test
	void readerIsKeptForTheNextSearchAndSeesWhatIsNewOnTopics() {
		String topic = Broker.newTopic("browse-kept", 1);
		AtomicInteger opened = new AtomicInteger();
		try (DeadLetterBrowser counted = new DeadLetterBrowser(() -> {
			opened.incrementAndGet();
			return LetterScanner.open(Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, Broker.bootstrap()),
					System::nanoTime);
		}, Broker::admin, SETTINGS, System::nanoTime)) {
			Broker.send(new ProducerRecord<>(topic, 0, 5000L, null, Broker.bytes("first")));
			assertThat(counted.depth(source(topic)).count()).isOne();
			Broker.growTopic(topic, 2);
			Broker.send(new ProducerRecord<>(topic, 1, 5000L, null, Broker.bytes("second")));
			QueueApp.eventually().until(() -> counted.depth(source(topic)).count() == 2);
			Broker.deleteTopic(topic);
			Broker.createTopic(topic, 1, Map.of());
			Broker.send(new ProducerRecord<>(topic, 0, 5000L, null, Broker.bytes("third")));
			QueueApp.eventually().until(() -> counted.depth(source(topic)).count() == 1);
			assertThat(counted
				.search(source(topic), new LetterSearch(LetterFilter.NONE, false, 10, null),
						(letter, resolved) -> new String(letter.record().value()))
				.records()).containsExactly("third");
		}
		assertThat(opened).hasValue(1);
	}

	@Test
	void oldestIsFoundBehindTheSampleToo() {
		String topic = Broker.newTopic("browse-oldest", 2);
		for (int i = 0; i < 600; i++) {
			Broker.send(new ProducerRecord<>(topic, i % 2, 10_000L - i % 2, null, Broker.bytes("v")));
		}

		TopicOverview overview = this.browser.overview(List.of(source(topic))).get(0).topics().get(0);

		assertThat(overview.sample()).isEqualTo(500);
		assertThat(overview.depth()).isEqualTo(600);
		assertThat(overview.oldest()).isEqualTo(Instant.ofEpochMilli(9_999));
		assertThat(overview.newest()).isEqualTo(Instant.ofEpochMilli(10_000));
		assertThat(this.browser.depth(source(topic))).isEqualTo(new LetterDepth(600, Instant.ofEpochMilli(9_999)));
	}

	@Test
	void M5_readingLeavesNoTrace() {
		String topic = Broker.newTopic("browse-trace", 1);
		Broker.sendNumbers(topic, 1, 5);
		List<String> before = groups();

		search(topic, LetterFilter.NONE, 2, null);
		find(topic, 0, 0);
		this.browser.overview(List.of(source(topic)));
		this.browser.depth(source(topic));

		assertThat(groups()).isEqualTo(before).doesNotContain("browse-application");
	}

	@Test
	void brokerThatDoesNotAnswerIsWaitedForUntilTheTimeout() {
		DeadLetterBrowser alone = browser(new SearchSettings(10, Duration.ofMillis(300), 20),
				Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, "localhost:1"));
		String topic = Broker.newTopic("browse-alone", 1);
		long start = System.nanoTime();

		assertThatExceptionOfType(BrowseException.class).isThrownBy(() -> alone.depth(source(topic)));

		assertThat(alone.overview(List.of(source(topic))).get(0).problem()).isNotBlank();
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
	}

	@ParameterizedTest
	@ValueSource(strings = { "0:1", "trips-dlq", "other-dlq/0:1", "trips-dlq/0:x", "trips-dlq/0:1,", "trips-dlq/0:-1" })
	void cursorOfNoSearchHereIsRefused(String cursor) {
		assertThatExceptionOfType(InvalidParameterException.class)
			.isThrownBy(() -> search("trips-dlq", LetterFilter.NONE, 20, cursor))
			.withMessageContaining("nextCursor");
	}

	@Test
	void cursorIsReadAsItWasWritten() {
		Map<TopicPartition, Long> positions = Map.of(new TopicPartition("trips-dlq", 0), 4711L,
				new TopicPartition("trips-dlq", 10), 20L, new TopicPartition("cars-dlq", 1), 0L);

		String cursor = LetterCursor.write(positions);

		assertThat(cursor).isEqualTo("cars-dlq/1:0,trips-dlq/0:4711,10:20");
		assertThat(LetterCursor.read(cursor, Set.of("trips-dlq", "cars-dlq"))).isEqualTo(positions);
	}

	private LetterPage<String> search(String topic, LetterFilter filter, int limit, @Nullable String cursor) {
		return this.browser.search(source(topic), new LetterSearch(filter, false, limit, cursor), this::place);
	}

	private @Nullable String find(String topic, int partition, long offset) {
		return this.browser.find(source(topic), new TopicPartition(topic, partition), offset, this::place).orElse(null);
	}

	private String place(DeadLetter letter, boolean resolved) {
		return letter.record().partition() + "@" + letter.offset() + (resolved ? " resolved" : "");
	}

	private static LetterSource source(String topic) {
		return new LetterSource(Set.of(topic), "browse");
	}

	private static DeadLetterBrowser browser(SearchSettings settings) {
		return browser(settings, Map.of());
	}

	/** As an application would be configured whose consumers are in a group. */
	private static DeadLetterBrowser browser(SearchSettings settings, Map<String, Object> more) {
		Map<String, Object> properties = new HashMap<>();
		properties.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, Broker.bootstrap());
		properties.put(ConsumerConfig.GROUP_ID_CONFIG, "browse-application");
		properties.put(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, "browse-1");
		properties.put(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "consumer");
		properties.put(ConsumerConfig.GROUP_REMOTE_ASSIGNOR_CONFIG, "uniform");
		properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, true);
		properties.putAll(more);
		return new DeadLetterBrowser(() -> LetterScanner.open(properties, System::nanoTime), Broker::admin, settings,
				System::nanoTime);
	}

	private static ProducerRecord<byte[], byte[]> letter(String topic, int partition, long millis, String reason,
			String exception) {
		ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, partition, millis, null, Broker.bytes("v"));
		record.headers()
			.add(DeadLetterHeaders.REASON, Broker.bytes(reason))
			.add(KafkaHeaders.DLT_EXCEPTION_FQCN, Broker.bytes(exception));
		return record;
	}

	private static void resolve(String group, String topic, long watermark, long... range) {
		OffsetRanges.Builder above = new OffsetRanges.Builder();
		if (range.length > 0) {
			above.add(range[0], range[1]);
		}
		String metadata = new AckedSetCodec().encode(watermark, new AckedSet(above.build(), watermark + 1)).text();
		Broker.await(Broker.admin()
			.alterConsumerGroupOffsets(Resolved.group(group),
					Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(watermark, metadata)))
			.all());
	}

	private static void transaction(String topic, boolean commit, String... values) {
		try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
				Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, Broker.bootstrap(),
						ProducerConfig.TRANSACTIONAL_ID_CONFIG, topic),
				new ByteArraySerializer(), new ByteArraySerializer())) {
			producer.initTransactions();
			producer.beginTransaction();
			for (String value : values) {
				Broker.await(producer.send(new ProducerRecord<>(topic, 0, null, Broker.bytes(value))));
			}
			if (commit) {
				producer.commitTransaction();
			}
			else {
				producer.abortTransaction();
			}
		}
	}

	private static List<String> groups() {
		return Broker.await(Broker.admin().listGroups().all())
			.stream()
			.map(GroupListing::groupId)
			.filter((group) -> group.startsWith("browse"))
			.sorted()
			.toList();
	}

}
