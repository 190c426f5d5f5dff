package io.queuestarter.jobs;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Configurable;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Gives all partitions of a dead-letter topic to the job that has them already, or else
 * to the one that was started first: so a group is a lock, which a process that dies
 * loses after the session timeout. Made by Kafka; for this library's jobs alone.
 */
public final class OldestJobAssignor implements ConsumerPartitionAssignor, Configurable {

	/** Key of the consumer setting that tells the job: its start and its id. */
	static final String JOB = "kafka-queue.job";

	private String job = "";

	/**
	 * Creates an assignor; called by Kafka.
	 */
	public OldestJobAssignor() {
	}

	@Override
	public void configure(Map<String, ?> configs) {
		Object configured = configs.get(JOB);
		this.job = (configured != null) ? configured.toString() : "";
	}

	@Override
	public String name() {
		return "queue-oldest-job";
	}

	@Override
	public List<RebalanceProtocol> supportedProtocols() {
		return List.of(RebalanceProtocol.COOPERATIVE);
	}

	@Override
	public ByteBuffer subscriptionUserData(Set<String> topics) {
		return ByteBuffer.wrap(this.job.getBytes(StandardCharsets.UTF_8));
	}

	@Override
	public GroupAssignment assign(Cluster metadata, GroupSubscription groupSubscription) {
		Map<String, Subscription> members = groupSubscription.groupSubscription();
		Map<String, List<TopicPartition>> given = new HashMap<>();
		members.keySet().forEach((member) -> given.put(member, new ArrayList<>()));
		members.values().stream().flatMap((member) -> member.topics().stream()).distinct().forEach((topic) -> {
			String owner = ownerOf(topic, members);
			List<PartitionInfo> partitions = metadata.partitionsForTopic(topic);
			for (PartitionInfo partition : partitions) {
				given.computeIfAbsent(owner, (member) -> new ArrayList<>())
					.add(new TopicPartition(topic, partition.partition()));
			}
		});
		Map<String, Assignment> assignments = new HashMap<>();
		given.forEach((member, partitions) -> assignments.put(member, new Assignment(partitions)));
		return new GroupAssignment(assignments);
	}

	private static String ownerOf(String topic, Map<String, Subscription> members) {
		String owner = null;
		String first = "";
		for (Map.Entry<String, Subscription> entry : members.entrySet()) {
			Subscription member = entry.getValue();
			if (member.topics().contains(topic)) {
				boolean owns = member.ownedPartitions().stream().anyMatch((owned) -> owned.topic().equals(topic));
				String rank = (owns ? "0 " : "1 ") + text(member.userData()) + " " + entry.getKey();
				if (owner == null || rank.compareTo(first) < 0) {
					owner = entry.getKey();
					first = rank;
				}
			}
		}
		return String.valueOf(owner);
	}

	private static String text(@Nullable ByteBuffer data) {
		return (data != null) ? StandardCharsets.UTF_8.decode(data.duplicate()).toString() : "";
	}

}
