package io.queuestarter;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.Test;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

class QueueListenerTests {

	@Test
	void handlesAndCommitsEveryRecord() {
		String topic = Broker.newTopic("trips", 2);
		Broker.sendNumbers(topic, 2, 1000);

		try (QueueApp app = QueueApp.of(Collecting.class).with("topic", topic).start()) {
			List<String> handled = app.bean(Collecting.class).handled;
			QueueApp.eventually().until(() -> handled.size() >= 1000);
			QueueApp.eventually().until(() -> Broker.committedSum("collectors", topic) == 1000);

			assertThat(handled).hasSize(1000).doesNotHaveDuplicates();
		}
	}

	static class Collecting {

		final List<String> handled = new CopyOnWriteArrayList<>();

		@QueueListener(id = "collecting", topics = "${topic}", groupId = "collectors")
		void handle(String value) {
			this.handled.add(value);
		}

	}

}
