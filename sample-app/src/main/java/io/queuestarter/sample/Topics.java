package io.queuestarter.sample;

import java.util.Arrays;

import org.apache.kafka.clients.admin.NewTopic;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.config.TopicBuilder;
import org.springframework.kafka.core.KafkaAdmin;

/**
 * The topics, one partition each: the story is about what happens inside a partition. The
 * queue creates its dead-letter topic itself.
 */
@Configuration(proxyBeanMethods = false)
class Topics {

	@Bean
	KafkaAdmin.NewTopics trips() {
		return new KafkaAdmin.NewTopics(Arrays.stream(Design.values())
			.map((design) -> TopicBuilder.name(design.topic()).partitions(1).build())
			.toArray(NewTopic[]::new));
	}

}
