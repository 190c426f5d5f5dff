package io.queuestarter.sample;

import java.util.Arrays;
import java.util.stream.Stream;

import org.apache.kafka.clients.admin.NewTopic;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.config.TopicBuilder;
import org.springframework.kafka.core.KafkaAdmin;

/**
 * The topics, one partition each: the story is about what happens inside a partition. The
 * queues create their dead-letter topics themselves.
 */
@Configuration(proxyBeanMethods = false)
class Topics {

	@Bean
	KafkaAdmin.NewTopics trips() {
		return new KafkaAdmin.NewTopics(Stream
			.concat(Arrays.stream(Design.values()).map(Design::topic),
					Stream.of(LanesQueue.TOPIC, LanesQueue.PARK_TOPIC))
			.map((topic) -> TopicBuilder.name(topic).partitions(1).build())
			.toArray(NewTopic[]::new));
	}

}
