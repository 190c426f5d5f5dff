package io.queuestarter.autoconfigure;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import org.assertj.core.api.AbstractThrowableAssert;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.messaging.handler.annotation.Header;

import io.queuestarter.QueueConfigurationException;
import io.queuestarter.QueueContext;
import io.queuestarter.QueueListener;
import io.queuestarter.container.Queue;
import io.queuestarter.container.QueueListenerContainerFactory;
import io.queuestarter.container.QueueSettings;
import io.queuestarter.container.QueueSettings.Origin;
import io.queuestarter.container.QueueSettings.Workers;
import io.queuestarter.container.Queues;
import io.queuestarter.settle.ExceptionPolicy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What start-up makes of configuration: who wins, and what is refused with which words.
 * No broker is needed, since none of the queues starts.
 */
class QueueConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(KafkaAutoConfiguration.class, KafkaQueueAutoConfiguration.class));

	private final ApplicationContextRunner billing = this.runner.withBean(Billing.class);

	@Test
	void builtInDefaultsApply() {
		this.billing.run((context) -> {
			QueueSettings settings = settings(context.getBean(Queues.class));

			assertThat(settings.workers().maxInFlight()).isEqualTo(250);
			assertThat(settings.limits().window()).isEqualTo(10_000);
			assertThat(settings.limits().records()).isEqualTo(1000);
			assertThat(settings.limits().bytes()).isEqualTo(10 << 20);
			assertThat(settings.limits().partitionRecords()).isEqualTo(500);
			assertThat(settings.retry().initialInterval()).hasMillis(100);
			assertThat(settings.commitInterval()).hasMillis(500);
			assertThat(settings.drainTimeout()).hasSeconds(10);
			assertThat(settings.deadLetters().topic()).isEqualTo("{topic}-dlq");
			assertThat(source(settings, "dispatch.max-in-flight")).isEqualTo("built-in default");
		});
	}

	@Test
	void listenerPropertyBeatsAnnotationBeatsDefaultsBeatsBuiltIn() {
		this.billing
			.withPropertyValues("kafka-queue.defaults.timeout.initial=5s", "kafka-queue.defaults.dlq.topic=all.dlq",
					"kafka-queue.defaults.retry.local.max-attempts=9",
					"kafka-queue.listeners.billing.retry.local.max-attempts=7")
			.run((context) -> {
				QueueSettings settings = settings(context.getBean(Queues.class));

				assertThat(settings.retry().maxAttempts()).isEqualTo(7);
				assertThat(source(settings, "retry.local.max-attempts"))
					.startsWith("kafka-queue.listeners.billing.retry.local.max-attempts");
				assertThat(settings.timeouts().attempt().initial()).isEqualTo(Duration.ofSeconds(20));
				assertThat(source(settings, "timeout.initial"))
					.isEqualTo("'timeout' of @QueueListener on Billing.charge");
				assertThat(settings.deadLetters().topic()).isEqualTo("all.dlq");
			});
	}

	@Test
	void groupOfTheAnnotationBeatsTheDefaultAndAListenersBeatsBoth() {
		this.billing.withPropertyValues("kafka-queue.defaults.group=all").run((context) -> {
			Queue queue = context.getBean(Queues.class).find("billing").orElseThrow();

			assertThat(queue.group()).isEqualTo("billing-group");
		});
		this.billing.withPropertyValues("kafka-queue.defaults.group=all", "kafka-queue.listeners.billing.group=own")
			.run((context) -> assertThat(context.getBean(Queues.class).find("billing").orElseThrow().group())
				.isEqualTo("own"));
	}

	@Test
	void deadLettersAreSwitchedOffByAPlaceholder() {
		this.runner.withBean(Dynamic.class)
			.withPropertyValues("q.id=dynamic", "q.topic=trips", "q.group=g", "q.limit=64", "q.dlq=none")
			.run((context) -> assertThat(
					context.getBean(Queues.class).find("dynamic").orElseThrow().settings().deadLetters().enabled())
				.isFalse());
	}

	@Test
	void placeholdersAndExpressionsWorkInEveryAttribute() {
		this.runner.withBean(Dynamic.class)
			.withPropertyValues("q.id=dynamic", "q.topic=trips", "q.group=g", "q.limit=64", "q.dlq=graves")
			.run((context) -> {
				QueueSettings settings = context.getBean(Queues.class).find("dynamic").orElseThrow().settings();

				assertThat(settings.workers().maxInFlight()).isEqualTo(128);
				assertThat(settings.deadLetters().topic()).isEqualTo("graves");
				assertThat(settings.timeouts().attempt().initial()).hasSeconds(3);
			});
	}

	@Test
	void idDefaultsToBeanClassAndMethod() {
		this.runner.withBean(Nameless.class)
			.run((context) -> assertThat(context.getBean(Queues.class).find("nameless-handle")).isPresent());
	}

	@Test
	void C1_idWithDotsOrSlashesIsConfiguredInBrackets() {
		this.runner.withBean(Dotted.class)
			.withPropertyValues("kafka-queue.listeners[orders.v1].dispatch.max-in-flight=3",
					"kafka-queue.listeners[a/b].dispatch.max-in-flight=4", "kafka-queue.listeners[orders.v1].group=own")
			.run((context) -> {
				Queues queues = context.getBean(Queues.class);

				assertThat(queues.find("orders.v1").orElseThrow().group()).isEqualTo("own");
				assertThat(queues.find("orders.v1").orElseThrow().settings().workers().maxInFlight()).isEqualTo(3);
				assertThat(source(queues.find("orders.v1").orElseThrow().settings(), "dispatch.max-in-flight"))
					.startsWith("kafka-queue.listeners[orders.v1].dispatch.max-in-flight");
				assertThat(queues.find("a/b").orElseThrow().settings().workers().maxInFlight()).isEqualTo(4);
			});
	}

	@Test
	void C1_dotsWithoutBracketsFailAndTheBracketFormIsShown() {
		this.runner.withBean(Dotted.class)
			.withPropertyValues("kafka-queue.listeners.a/b.dispatch.max-in-flight=4")
			.run((context) -> refused(context.getStartupFailure()).hasMessageContaining("'ab'")
				.hasMessageContaining("[orders.v1]"));
		this.runner.withBean(Dotted.class)
			.withPropertyValues("kafka-queue.listeners.orders.v1.dispatch.max-in-flight=4")
			.run((context) -> assertThat(context).hasFailed());
	}

	@Test
	void C1_settingsForNobodyFailAndSuggestTheQueue() {
		this.billing.withPropertyValues("kafka-queue.listeners.biling.dispatch.max-in-flight=4")
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("kafka-queue.listeners.biling configures queue 'biling', but there is none")
				.hasMessageContaining("Did you mean 'billing'?"));
	}

	@Test
	void C2_sameIdTwiceFailsNamingBothMethods() {
		this.billing.withBean(SameId.class)
			.run((context) -> refused(context.getStartupFailure()).hasMessageContaining("'billing' is used twice")
				.hasMessageContaining("Billing.charge")
				.hasMessageContaining("SameId.other"));
	}

	@Test
	void C2_sameTopicAndGroupTwiceFails() {
		this.billing.withBean(SameTopic.class)
			.run((context) -> refused(context.getStartupFailure()).hasMessageContaining("both consume [trips]")
				.hasMessageContaining("'billing-group'"));
	}

	@Test
	void twoQueuesOfAGroupHaveDeadLettersOfTheirOwn() {
		this.billing.withBean(SameGroup.class)
			.withPropertyValues("kafka-queue.defaults.dlq.topic=letters")
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("both write dead letters to [letters] in group 'billing-group'"));
	}

	@Test
	void queueThatReadsItsOwnDeadLettersIsRefused() {
		this.billing.withPropertyValues("kafka-queue.listeners.billing.dlq.topic=trips")
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("consumes 'trips', which is where its dead letters go"));
	}

	@Test
	void C2_oneGroupForTwoTopicsIsServed() {
		this.billing.withBean(SameGroup.class)
			.run((context) -> assertThat(context.getBean(Queues.class).all()).hasSize(2));
	}

	@Test
	void C3_autoCommitIsRefused() {
		this.billing.withPropertyValues("spring.kafka.consumer.enable-auto-commit=true")
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("spring.kafka.consumer.enable-auto-commit")
				.hasMessageContaining("Remove it"));
		this.runner.withBean(AutoCommitting.class)
			.run((context) -> refused(context.getStartupFailure()).hasMessageContaining("AutoCommitting.handle")
				.hasMessageContaining("enable.auto.commit"));
	}

	@ParameterizedTest
	@CsvSource({ "dispatch.max-in-flight,0,between 1 and", "dispatch.max-in-flight,2147483647,between 1 and",
			"timeout.initial,0s,between 1ms and", "timeout.initial,-1s,between 1ms and",
			"retry.local.max-attempts,0,between 1 and", "retry.local.initial-interval,-1ms,between 0ms and",
			"retry.local.multiplier,0.5,between 1 and 100", "ledger.capacity,0,between 1 and",
			"ledger.commit-interval,0ms,between 10ms and", "buffer.max-records,0,between 1 and",
			"buffer.max-size,0B,above 0B", "buffer.partition.max-records,2000,between 1 and 1000",
			"shutdown.drain-timeout,-1s,between 0ms and",
			"shutdown.drain-timeout,45s,at most spring.lifecycle.timeout-per-shutdown-phase",
			"dlq.topic,bad topic,a topic name", "dlq.topic,{topic},another topic" })
	void C4_impossibleValueIsRefusedWithPropertyValueAndRange(String key, String value, String expected) {
		this.billing.withPropertyValues("kafka-queue.listeners.billing." + key + "=" + value)
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("Queue 'billing': " + key + " is ")
				.hasMessageContaining("kafka-queue.listeners.billing." + key)
				.hasMessageContaining(expected));
	}

	@ParameterizedTest
	@ValueSource(strings = { "named.test.dlq.topic=trips", "on-foreign=forward,lanes.forward-topic=trips" })
	void laneWhoseRecordsWouldComeRoundAgainIsRefused(String setting) {
		ApplicationContextRunner lanes = this.billing.withPropertyValues(
				"kafka-queue.listeners.billing.lanes.header=tenancy",
				"kafka-queue.listeners.billing.lanes.named.test.values=test");
		for (String part : setting.split(",lanes\\.")) {
			lanes = lanes.withPropertyValues("kafka-queue.listeners.billing.lanes." + part);
		}
		lanes.run((context) -> refused(context.getStartupFailure()).hasMessageContaining("consumes 'trips', which is"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			lanes.serve          | serve=prod,tset                         | or 'unknown'; 'tset' is none of them
			lanes.serve          | serve=${NOT_SET:}                       | or unset for all of them
			lanes.header         | header=${NOT_SET:}                      | the name of a header, or unset
			lanes.named          | named.load.values=drill,test            | value 'test' belongs to both
			lanes.named          | named.test.values=prod                  | value 'prod' belongs to both
			lanes.named          | named.unknown.values=x                  | and 'unknown' is not
			lanes.default-lane   | default-lane=unknown                    | other than 'unknown'
			lanes.on-foreign     | on-foreign=forward                      | while there is no lanes.forward-topic
			lanes.on-foreign     | serve=test on-foreign=hold              | skip while lanes.serve is without 'prod'
			lanes.forward-topic  | on-foreign=forward forward-topic={topic} | the name of another topic
			""")
	void C4_lanesThatLeaveARecordInDoubtAreRefusedWithPropertyAndFix(String key, String settings, String expected) {
		ApplicationContextRunner lanes = this.billing.withPropertyValues(
				"kafka-queue.listeners.billing.lanes.header=tenancy",
				"kafka-queue.listeners.billing.lanes.default-lane=prod",
				"kafka-queue.listeners.billing.lanes.named.test.values=test");
		for (String setting : settings.split(" ")) {
			lanes = lanes.withPropertyValues("kafka-queue.listeners.billing.lanes." + setting);
		}
		lanes.run((context) -> refused(context.getStartupFailure())
			.hasMessageContaining("Queue 'billing': " + key + " is ")
			.hasMessageContaining("kafka-queue.listeners.billing." + key + " to a possible value")
			.hasMessageContaining(expected));
	}

	@ParameterizedTest
	@ValueSource(strings = { "lanes.header", "zone.header" })
	void headerWithoutANameIsRefused(String key) {
		this.billing
			.withPropertyValues("kafka-queue.listeners.billing." + key + "=",
					"kafka-queue.listeners.billing.zone.own=east")
			.run((context) -> refused(context.getStartupFailure()).hasMessageContaining("Queue 'billing': " + key)
				.hasMessageContaining("the name of a header"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "create=false", "on-too-large=stub" })
	void whatIsSetForDeadLettersOfALaneButConcernsTheQueueIsRefused(String setting) {
		this.billing
			.withPropertyValues("kafka-queue.listeners.billing.lanes.header=tenancy",
					"kafka-queue.listeners.billing.lanes.named.test.dlq." + setting)
			.run((context) -> refused(context.getStartupFailure()).hasMessageContaining("left to the queue"));
	}

	@ParameterizedTest
	@CsvSource({ "serve=test,lanes.serve is [test]", "named.test.values=test,lanes.named is test" })
	void lanesWithoutAHeaderAreRefusedWithTheKeyThatIsMissing(String setting, String expected) {
		this.billing.withPropertyValues("kafka-queue.listeners.billing.lanes." + setting)
			.run((context) -> refused(context.getStartupFailure()).hasMessageContaining("Queue 'billing': " + expected)
				.hasMessageContaining(", but no lanes.header")
				.hasMessageContaining("property source")
				.hasMessageContaining("Set kafka-queue.listeners.billing.lanes.header to its name"));
	}

	@Test
	void valueOfALaneIsRefusedWithTheKeyOfTheLane() {
		ApplicationContextRunner lanes = this.billing.withPropertyValues(
				"kafka-queue.listeners.billing.lanes.header=tenancy",
				"kafka-queue.listeners.billing.lanes.named.test.values=test");
		String test = "kafka-queue.listeners.billing.lanes.named.test.";

		lanes.withPropertyValues(test + "dispatch.max-in-flight=0")
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("Queue 'billing', lane 'test': dispatch.max-in-flight is 0, set by " + test
						+ "dispatch.max-in-flight (")
				.hasMessageContaining("Set " + test + "dispatch.max-in-flight to a possible value"));
		lanes.withPropertyValues(test + "retry.topics[0].delay=4s")
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("lane 'test': retry.topics is a list of 1, set by " + test + "retry.topics (")
				.hasMessageContaining("lanes share the retry topics of their queue"));
	}

	@Test
	void foreignRecordsAreNotDeadLetteredWithoutADeadLetterTopic() {
		this.billing
			.withPropertyValues("kafka-queue.listeners.billing.lanes.header=tenancy",
					"kafka-queue.listeners.billing.lanes.on-foreign=dead_letter",
					"kafka-queue.listeners.billing.dlq.enabled=false")
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("Queue 'billing': lanes.on-foreign is dead_letter, set by "
						+ "kafka-queue.listeners.billing.lanes.on-foreign")
				.hasMessageContaining("skip, hold or forward while dlq.enabled is false"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "lanes.on-foreign=forward lanes.forward-topic=trips-{lane}",
			"lanes.on-foreign=dead_letter dlq.topic=trips-dead" })
	void topicThatIsWrittenAndMatchesThePatternIsRefused(String settings) {
		ApplicationContextRunner patterned = this.runner.withBean(Patterned.class)
			.withPropertyValues("kafka-queue.listeners.patterned.lanes.header=tenancy");
		for (String setting : settings.split(" ")) {
			patterned = patterned.withPropertyValues("kafka-queue.listeners.patterned." + setting);
		}
		patterned.run((context) -> refused(context.getStartupFailure()).hasMessageContaining("consumes 'trips-"));
	}

	@Test
	void zonesAreRefusedWhereTheyWouldBreakAnOrder() {
		ApplicationContextRunner ordered = this.billing.withPropertyValues("kafka-queue.listeners.billing.ordering=key",
				"kafka-queue.listeners.billing.zone.own=east");

		ordered.withPropertyValues("kafka-queue.listeners.billing.zone.header=zone")
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining(
						"Queue 'billing': zone.own is east, set by kafka-queue.listeners.billing.zone.own")
				.hasMessageContaining("unset while ordering is KEY")
				.hasMessageContaining("Set kafka-queue.listeners.billing.zone.own to a possible value"));
		ordered.run((context) -> assertThat(context).hasNotFailed());
		this.billing.withPropertyValues("kafka-queue.listeners.billing.zone.fail-over-after=-1s")
			.run((context) -> refused(context.getStartupFailure()).hasMessageContaining("zone.fail-over-after is ")
				.hasMessageContaining("between 0 and a day"));
	}

	@ParameterizedTest
	@CsvSource({ "dlq.search.max-scan,0,above 0", "dlq.search.timeout,0s,above 0",
			"dlq.search.page-size,0,from 1 to 500", "dlq.search.page-size,501,from 1 to 500",
			"metrics.dlq-depth-interval,0s,above 0", "doctor.retention-share,0,above 0" })
	void impossibleValueForAllQueuesIsRefused(String key, String value, String expected) {
		this.billing.withPropertyValues("kafka-queue." + key + "=" + value)
			.run((context) -> refused(context.getStartupFailure()).hasMessageContaining("kafka-queue." + key + " is ")
				.hasMessageContaining(expected));
	}

	@Test
	void deadLetterTopicsAreThoseOfTheSources() {
		this.runner.withBean(Billing.class)
			.withPropertyValues("kafka-queue.listeners.billing.dlq.topic=parked-{topic}")
			.run((context) -> assertThat(context.getBean(Queues.class).find("billing").orElseThrow().deadLetterTopics())
				.containsExactly("parked-trips"));
		this.runner.withBean(Billing.class)
			.withPropertyValues("kafka-queue.listeners.billing.dlq.enabled=false")
			.run((context) -> assertThat(context.getBean(Queues.class).find("billing").orElseThrow().deadLetterTopics())
				.isEmpty());
	}

	@Test
	void exceptionsOfTheAnnotationAreShownWithTheirOrigin() {
		this.runner.withBean(Choosy.class).run((context) -> {
			QueueSettings settings = context.getBean(Queues.class).find("choosy").orElseThrow().settings();

			assertThat(settings.exceptions().retryFor()).containsExactly(IOException.class, Choosy.Busy.class);
			assertThat(settings.exceptions().dlqFor()).containsExactly(FileNotFoundException.class);
			assertThat(settings.origins().get("retry.dlq-for")).isEqualTo(
					new Origin("[java.io.FileNotFoundException]", "'dlqFor' of @QueueListener on Choosy.handle"));
		});
	}

	@Test
	void exceptionsOfThePropertiesBeatTheAnnotation() {
		this.runner.withBean(Choosy.class)
			.withPropertyValues("kafka-queue.defaults.retry.retry-for=java.lang.Error",
					"kafka-queue.listeners.choosy.retry.retry-for=",
					"kafka-queue.listeners.choosy.retry.dlq-for[0]=java.lang.IllegalStateException",
					"kafka-queue.listeners.choosy.retry.dlq-for[1]=" + Choosy.Busy.class.getName())
			.run((context) -> {
				QueueSettings settings = context.getBean(Queues.class).find("choosy").orElseThrow().settings();

				assertThat(settings.exceptions().retryFor()).isEmpty();
				assertThat(settings.exceptions().dlqFor()).containsExactly(IllegalStateException.class,
						Choosy.Busy.class);
				assertThat(source(settings, "retry.dlq-for"))
					.startsWith("kafka-queue.listeners.choosy.retry.dlq-for (");
			});
		this.billing.withPropertyValues("kafka-queue.defaults.retry.dlq-for=java.lang.Error, java.io.IOException")
			.run((context) -> assertThat(settings(context.getBean(Queues.class)).exceptions().dlqFor())
				.containsExactly(Error.class, IOException.class));
		this.billing.run((context) -> {
			QueueSettings settings = settings(context.getBean(Queues.class));

			assertThat(settings.exceptions()).isEqualTo(ExceptionPolicy.RETRY_ALL);
			assertThat(source(settings, "retry.retry-for")).isEqualTo("built-in default");
		});
	}

	@ParameterizedTest
	@CsvSource({ "retry.retry-for,com.acme.Missing,there is no class", "retry.dlq-for,java.lang.String,is no Throwable",
			"retry.dlq-for,int,is no Throwable" })
	void C4_whatIsNoExceptionIsRefusedWithPropertyValueAndOrigin(String key, String value, String expected) {
		this.billing
			.withPropertyValues("kafka-queue.listeners.billing." + key + "[0]=java.io.IOException",
					"kafka-queue.listeners.billing." + key + "[1]=" + value)
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("Queue 'billing': " + key + " is [java.io.IOException, " + value + "], set by "
						+ "kafka-queue.listeners.billing." + key + " (")
				.hasMessageContaining(expected));
	}

	@Test
	void C4_edgesAreHonoured() {
		this.billing
			.withPropertyValues("kafka-queue.listeners.billing.shutdown.drain-timeout=500ms",
					"kafka-queue.listeners.billing.retry.local.max-attempts=1",
					"kafka-queue.listeners.billing.retry.local.initial-interval=0ms",
					"kafka-queue.listeners.billing.buffer.max-size=5GB")
			.run((context) -> {
				QueueSettings settings = settings(context.getBean(Queues.class));

				assertThat(settings.drainTimeout()).hasMillis(500);
				assertThat(settings.retry().maxAttempts()).isEqualTo(1);
				assertThat(settings.retry().initialInterval()).isZero();
				assertThat(settings.limits().bytes()).isEqualTo(5L << 30);
			});
	}

	@Test
	void C4_concurrencyOutOfRangeIsRefused() {
		this.runner.withBean(Crowded.class)
			.run((context) -> refused(context.getStartupFailure()).hasMessageContaining("'concurrency'")
				.hasMessageContaining("2147483647"));
	}

	@Test
	void annotationValueThatDoesNotParseIsRefused() {
		this.runner.withBean(Misspelt.class)
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("'maxInFlight' of @QueueListener on Misspelt.handle is 'many'"));
	}

	@Test
	void orderingsThatDoNotExistAreRefused() {
		this.runner.withBean(Ordered.class)
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("'ordering' of @QueueListener on Ordered.handle is 'keys'")
				.hasMessageContaining("unordered, key or partition"));
		this.billing.withPropertyValues("kafka-queue.defaults.ordering=keys")
			.run((context) -> assertThat(context).hasFailed()
				.getFailure()
				.rootCause()
				.hasMessageContaining("Ordering.keys"));
	}

	@Test
	void unknownPropertyIsRefused() {
		this.billing.withPropertyValues("kafka-queue.defaults.dispatch.max-in-fligth=3")
			.run((context) -> assertThat(context).hasFailed()
				.getFailure()
				.rootCause()
				.hasMessageContaining("kafka-queue.defaults.dispatch.max-in-fligth"));
	}

	@Test
	void unknownPropertyIsExplained() {
		this.billing.withPropertyValues("kafka-queue.listeners.billing.dispatch.max-inflights=5").run((context) -> {
			FailureAnalysis analysis = Objects.requireNonNull(new UnknownQueuePropertyFailureAnalyzer()
				.analyze(Objects.requireNonNull(context.getStartupFailure())));

			assertThat(analysis.getDescription())
				.startsWith("kafka-queue.listeners.billing.dispatch.max-inflights is set to '5'");
			assertThat(analysis.getAction()).contains("Did you mean 'dispatch.max-in-flight'?")
				.contains("retry.local.max-attempts");
		});
	}

	@Test
	void unknownPropertyOfALaneIsExplainedByThoseOfALane() {
		String test = "kafka-queue.listeners.billing.lanes.named.test.";

		this.billing.withPropertyValues(test + "dispach.max-in-flight=5").run((context) -> {
			FailureAnalysis analysis = Objects.requireNonNull(new UnknownQueuePropertyFailureAnalyzer()
				.analyze(Objects.requireNonNull(context.getStartupFailure())));

			assertThat(analysis.getDescription()).startsWith(test + "dispach.max-in-flight is set to '5'")
				.endsWith("there is no such setting of a lane.");
			assertThat(analysis.getAction()).contains("Did you mean 'dispatch.max-in-flight'?")
				.contains("pattern")
				.doesNotContain("ledger.capacity");
		});
	}

	@Test
	void missingGroupIsRefused() {
		this.runner.withBean(Groupless.class)
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("Queue 'groupless' (method Groupless.handle) has no consumer group")
				.hasMessageContaining("kafka-queue.listeners.groupless.group"));
		this.runner.withBean(Groupless.class)
			.withPropertyValues("kafka-queue.listeners.groupless.group=g")
			.run((context) -> assertThat(context.getBean(Queues.class).find("groupless").orElseThrow().group())
				.isEqualTo("g"));
	}

	@Test
	void methodWithAListTakesBatches() {
		this.runner.withBean(Batch.class)
			.run((context) -> assertThat(context.getBean(Queues.class).find("batch").orElseThrow().settings().workers())
				.extracting(Workers::batch)
				.isEqualTo(new QueueSettings.Batch(100, Duration.ofMillis(10))));
		this.runner.withBean(Batch.class)
			.withPropertyValues("kafka-queue.defaults.batch.size=7", "kafka-queue.listeners.batch.batch.linger=1s")
			.run((context) -> assertThat(context.getBean(Queues.class).find("batch").orElseThrow().settings().workers())
				.extracting(Workers::batch)
				.isEqualTo(new QueueSettings.Batch(7, Duration.ofSeconds(1))));
	}

	@Test
	void batchIsNoLargerThanWhatMayBeInFlight() {
		this.runner.withBean(Batch.class)
			.withPropertyValues("kafka-queue.listeners.batch.dispatch.max-in-flight=8")
			.run((context) -> assertThat(context.getBean(Queues.class).find("batch").orElseThrow().settings().workers())
				.extracting(Workers::batch)
				.isEqualTo(new QueueSettings.Batch(8, Duration.ofMillis(10))));
		this.runner.withBean(Batch.class)
			.withPropertyValues("kafka-queue.listeners.batch.batch.size=251")
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("batch.size is 251, set by kafka-queue.listeners.batch.batch.size")
				.hasMessageContaining("at most dispatch.max-in-flight, 250"));
	}

	@Test
	void batchOfALaneIsNoLargerThanItsPlaces() {
		this.runner.withBean(Batch.class)
			.withPropertyValues("kafka-queue.listeners.batch.batch.size=50",
					"kafka-queue.listeners.batch.lanes.header=tenancy",
					"kafka-queue.listeners.batch.lanes.named.test.dispatch.max-in-flight=4")
			.run((context) -> {
				QueueSettings settings = context.getBean(Queues.class).find("batch").orElseThrow().settings();
				assertThat(settings.lanes().served().values()).extracting((lane) -> lane.workers().batch())
					.containsExactly(new QueueSettings.Batch(50, Duration.ofMillis(10)),
							new QueueSettings.Batch(4, Duration.ofMillis(10)));
			});
	}

	@Test
	void headerOfASingleRecordIsRefusedInABatch() {
		this.runner.withBean(BatchWithHeader.class)
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("BatchWithHeader.handle takes a List and the header 'tenancy'")
				.hasMessageContaining("Take a List of Messages or of ConsumerRecords"));
	}

	@Test
	void batchSettingsOfAMethodThatTakesOneRecordAreRefused() {
		this.runner.withBean(Groupless.class)
			.withPropertyValues("kafka-queue.listeners.groupless.group=g",
					"kafka-queue.listeners.groupless.batch.size=5")
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining(
						"Queue 'groupless': batch.size is 5, set by kafka-queue.listeners.groupless.batch.size")
				.hasMessageContaining("Groupless.handle takes one record"));
		this.runner.withBean(Groupless.class)
			.withPropertyValues("kafka-queue.listeners.groupless.group=g",
					"kafka-queue.listeners.groupless.batch.linger=5ms")
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("Queue 'groupless': batch.linger is PT0.005S, set by"));
		this.runner.withBean(Groupless.class)
			.withPropertyValues("kafka-queue.listeners.groupless.group=g", "kafka-queue.defaults.batch.size=5")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void collectionThatIsNoListIsRefused() {
		this.runner.withBean(CollectionBatch.class)
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("CollectionBatch.handle takes a batch of records, but no List"));
	}

	@Test
	void contextOfABatchIsRefused() {
		this.runner.withBean(ContextBatch.class)
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("ContextBatch.handle takes a List and a QueueContext")
				.hasMessageContaining("QueueBatchException"));
	}

	@Test
	void filterOfABatchIsRefused() {
		this.runner.withBean(Batch.class)
			.withBean("filter", Filtering.class)
			.run((context) -> refused(context.getStartupFailure()).hasMessageContaining("RecordFilterStrategy")
				.hasMessageContaining("queue 'batch' takes batches"));
	}

	@Test
	void resultsThatNobodyAwaitsAreRefused() {
		this.runner.withBean(PlainFuture.class)
			.run((context) -> refused(context.getStartupFailure()).hasMessageContaining("PlainFuture.handle returns"));
	}

	@Test
	void secondListenerAnnotationIsRefused() {
		this.runner.withBean(Twice.class)
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("Twice.handle carries @QueueListener and @KafkaListener"));
		this.runner.withBean(Retryable.class)
			.run((context) -> refused(context.getStartupFailure())
				.hasMessageContaining("Retryable.handle carries @QueueListener and @RetryableTopic"));
	}

	@Test
	void disabledStarterLeavesNoBean() {
		this.runner.withPropertyValues("kafka-queue.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(Queues.class));
	}

	@Test
	void queuesBeanOfTheUserIsTaken() {
		Queues own = new Queues();

		this.billing.withBean(Queues.class, () -> own)
			.run((context) -> assertThat(context.getBean(Queues.class)).isSameAs(own));
	}

	private static String source(QueueSettings settings, String key) {
		return Objects.requireNonNull(settings.origins().get(key)).source();
	}

	private static QueueSettings settings(Queues queues) {
		return queues.find("billing").orElseThrow().settings();
	}

	private static AbstractThrowableAssert<?, ? extends Throwable> refused(@Nullable Throwable failure) {
		Throwable current = failure;
		while (current != null && !(current instanceof QueueConfigurationException)) {
			current = current.getCause();
		}
		return assertThat(current).describedAs("%s", failure).isNotNull();
	}

	static class Billing {

		@QueueListener(id = "billing", topics = "trips", groupId = "billing-group", timeout = "20s", maxAttempts = "5",
				autoStartup = "false")
		void charge(String trip) {
		}

	}

	static class Patterned {

		@QueueListener(id = "patterned", topicPattern = "trips-.*", groupId = "patterned", autoStartup = "false")
		void handle(String trip) {
		}

	}

	static class Choosy {

		@QueueListener(id = "choosy", topics = "choices", groupId = "choosy-group", autoStartup = "false",
				retryFor = { IOException.class, Busy.class }, dlqFor = FileNotFoundException.class)
		void handle(String value) {
		}

		static class Busy extends RuntimeException {

			private static final long serialVersionUID = 1L;

		}

	}

	static class SameId {

		@QueueListener(id = "billing", topics = "others", groupId = "others", autoStartup = "false")
		void other(String trip) {
		}

	}

	static class SameTopic {

		@QueueListener(id = "again", topics = { "others", "trips" }, groupId = "billing-group", autoStartup = "false")
		void other(String trip) {
		}

	}

	static class SameGroup {

		@QueueListener(id = "receipts", topics = "receipts", groupId = "billing-group", autoStartup = "false")
		void other(String trip) {
		}

	}

	static class Dynamic {

		@QueueListener(id = "${q.id}", topics = "${q.topic}", groupId = "${q.group}", maxInFlight = "#{${q.limit} * 2}",
				timeout = "#{3}s", dlq = "${q.dlq}", maxAttempts = "${q.attempts:4}", concurrency = "#{1 + 1}",
				autoStartup = "${q.auto:false}", ordering = "${q.ordering:unordered}",
				properties = "max.poll.records=${q.records:17}")
		void handle(String value) {
		}

	}

	static class Nameless {

		@QueueListener(topics = "trips", groupId = "g", autoStartup = "false")
		void handle(String value) {
		}

	}

	static class Dotted {

		@QueueListener(id = "orders.v1", topics = "orders.v1", groupId = "g1", autoStartup = "false")
		void dotted(String value) {
		}

		@QueueListener(id = "a/b", topics = "ab", groupId = "g2", autoStartup = "false")
		void slashed(String value) {
		}

	}

	static class AutoCommitting {

		@QueueListener(topics = "trips", groupId = "g", properties = "enable.auto.commit=true", autoStartup = "false")
		void handle(String value) {
		}

	}

	static class Crowded {

		@QueueListener(topics = "trips", groupId = "g", concurrency = "2147483647", autoStartup = "false")
		void handle(String value) {
		}

	}

	static class Misspelt {

		@QueueListener(topics = "trips", groupId = "g", maxInFlight = "many", autoStartup = "false")
		void handle(String value) {
		}

	}

	static class Ordered {

		@QueueListener(topics = "trips", groupId = "g", ordering = "keys", autoStartup = "false")
		void handle(String value) {
		}

	}

	static class Groupless {

		@QueueListener(id = "groupless", topics = "trips", autoStartup = "false")
		void handle(String value) {
		}

	}

	static class Batch {

		@QueueListener(id = "batch", topics = "trips", groupId = "g", autoStartup = "false")
		void handle(List<String> values) {
		}

	}

	static class BatchWithHeader {

		@QueueListener(id = "batch", topics = "trips", groupId = "g", autoStartup = "false")
		void handle(List<String> values, @Header("tenancy") String tenancy) {
		}

	}

	static class CollectionBatch {

		@QueueListener(topics = "trips", groupId = "g", autoStartup = "false")
		void handle(Collection<String> values) {
		}

	}

	static class ContextBatch {

		@QueueListener(topics = "trips", groupId = "g", autoStartup = "false")
		void handle(List<String> values, QueueContext context) {
		}

	}

	static class Filtering implements BeanPostProcessor {

		@Override
		public Object postProcessBeforeInitialization(Object bean, String name) {
			if (bean instanceof QueueListenerContainerFactory factory) {
				factory.setRecordFilterStrategy((record) -> false);
			}
			return bean;
		}

	}

	static class PlainFuture {

		@QueueListener(topics = "trips", groupId = "g", autoStartup = "false")
		Future<String> handle(String value) {
			return CompletableFuture.completedFuture(value);
		}

	}

	static class Twice {

		@QueueListener(topics = "trips", groupId = "g", autoStartup = "false")
		@KafkaListener(topics = "trips", groupId = "g", autoStartup = "false")
		void handle(String value) {
		}

	}

	static class Retryable {

		@QueueListener(topics = "trips", groupId = "g", autoStartup = "false")
		@RetryableTopic
		void handle(String value) {
		}

	}

}
