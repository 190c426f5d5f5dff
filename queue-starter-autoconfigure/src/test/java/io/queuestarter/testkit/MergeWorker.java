package io.queuestarter.testkit;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.awaitility.Awaitility;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.queuestarter.QueueListener;
import io.queuestarter.autoconfigure.KafkaQueueAutoConfiguration;
import io.queuestarter.browse.LetterFilter;
import io.queuestarter.container.Queues;
import io.queuestarter.jobs.DeadLetterJobs;
import io.queuestarter.jobs.JobAction;
import io.queuestarter.jobs.JobRequest;
import io.queuestarter.jobs.JobRunningException;
import io.queuestarter.jobs.JobTarget;

/**
 * An application that merges all dead letters of its queue, 500 a second, notes in a
 * {@link DiskJournal} which were handled, and waits for the end of its parent. To be run
 * in a JVM of its own.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ KafkaAutoConfiguration.class, KafkaQueueAutoConfiguration.class })
public class MergeWorker {

	/** Letters merged a second. */
	public static final int RATE = 500;

	public static void main(String[] args) {
		ChildJvm.endWithParent();
		ConfigurableApplicationContext context = SpringApplication.run(MergeWorker.class, args);
		DeadLetterJobs jobs = context.getBean(DeadLetterJobs.class);
		JobRequest request = new JobRequest(JobAction.MERGE, LetterFilter.NONE, JobTarget.HANDLER, RATE, Long.MAX_VALUE,
				null, null, "test", "to be killed");
		// The broker may not have missed the process yet that was killed.
		Awaitility.await()
			.atMost(Duration.ofMinutes(1))
			.ignoreExceptionsInstanceOf(JobRunningException.class)
			.until(() -> jobs.start(context.getBean(Queues.class).find("worker").orElseThrow(), request) != null);
	}

	/** Starts a process. */
	public static ChildJvm start(String bootstrap, String topic, Path folder, int number) {
		return ChildJvm.start(MergeWorker.class, folder.resolve("merge-" + number + ".log"),
				List.of("--topic=" + topic, "--journal=" + journal(folder, number),
						"--spring.kafka.bootstrap-servers=" + bootstrap, "--spring.main.banner-mode=off",
						"--spring.main.web-application-type=none", "--kafka-queue.defaults.dispatch.max-in-flight=16"));
	}

	/**
	 * Partitions and offsets of the dead letters that a process has handled, in order.
	 */
	public static List<String> handled(Path folder, int number) {
		return DiskJournal.read(journal(folder, number), number)
			.stream()
			.map((line) -> line.partition() + "@" + line.offset())
			.toList();
	}

	private static Path journal(Path folder, int number) {
		return folder.resolve("merge-" + number + ".journal");
	}

	@Bean
	static DiskJournal journal(@Value("${journal}") Path path) throws IOException {
		return new DiskJournal(path);
	}

	@Bean
	static Handler handler(DiskJournal journal) {
		return new Handler(journal);
	}

	static final class Handler {

		private final DiskJournal journal;

		Handler(DiskJournal journal) {
			this.journal = journal;
		}

		@QueueListener(id = "worker", topics = "${topic}", groupId = "${topic}")
		void handle(ConsumerRecord<String, String> record) {
			this.journal.note(DiskJournal.Event.ENDED, record.partition(), record.offset(), record.value());
		}

	}

}
