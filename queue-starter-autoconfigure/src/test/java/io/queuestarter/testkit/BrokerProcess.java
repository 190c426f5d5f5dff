package io.queuestarter.testkit;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.Uuid;
import org.awaitility.Awaitility;

/**
 * A broker in a JVM of its own, which can be killed and started again with its data and
 * address.
 */
public final class BrokerProcess implements AutoCloseable {

	private final Path folder;

	private final int port;

	private ChildJvm jvm;

	private BrokerProcess(Path folder, int port) {
		this.folder = folder;
		this.port = port;
		this.jvm = run();
	}

	/** Formats and starts a broker whose data is in an empty folder. */
	public static BrokerProcess start(Path folder) {
		int port = freePort();
		int controller = freePort();
		Path data = folder.resolve("data");
		try {
			Files.write(folder.resolve("server.properties"), List.of("process.roles=broker,controller", "node.id=1",
					"controller.quorum.voters=1@localhost:" + controller, "controller.listener.names=CONTROLLER",
					"listeners=PLAINTEXT://localhost:" + port + ",CONTROLLER://localhost:" + controller,
					"log.dirs=" + data, "auto.create.topics.enable=false", "group.initial.rebalance.delay.ms=0",
					"offsets.topic.num.partitions=4", "offsets.topic.replication.factor=1",
					"group.min.session.timeout.ms=1000"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return new BrokerProcess(folder, port);
	}

	/** Below those that connections get, so that it is free again after a kill. */
	private static int freePort() {
		for (int attempt = 0; attempt < 100; attempt++) {
			int port = ThreadLocalRandom.current().nextInt(20_000, 32_000);
			try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
				return socket.getLocalPort();
			}
			catch (IOException ex) {
				// Taken; another one then.
			}
		}
		throw new IllegalStateException("No free port");
	}

	/** Formats the data folder if it is new, and becomes a broker. */
	public static void main(String[] args) throws Exception {
		ChildJvm.endWithParent();
		String properties = args[0];
		if (!Files.exists(Path.of(args[1]))) {
			call("kafka.tools.StorageTool", "execute", new Class<?>[] { String[].class, PrintStream.class },
					new String[] { "format", "-t", Uuid.randomUuid().toString(), "-c", properties }, System.out);
		}
		call("kafka.Kafka", "main", new Class<?>[] { String[].class }, (Object) new String[] { properties });
	}

	/** By reflection, since the server is no dependency of the tests' own. */
	private static void call(String type, String method, Class<?>[] parameters, Object... arguments)
			throws ReflectiveOperationException {
		Class.forName(type).getMethod(method, parameters).invoke(null, arguments);
	}

	private ChildJvm run() {
		return ChildJvm.start(BrokerProcess.class, this.folder.resolve("broker.log"),
				List.of(this.folder.resolve("server.properties").toString(), this.folder.resolve("data").toString()));
	}

	/** Address of the broker. */
	public String bootstrap() {
		return "localhost:" + this.port;
	}

	/** Ends the broker without a warning. */
	public void kill() {
		this.jvm.kill();
	}

	/** Starts the broker again. */
	public void restart() {
		this.jvm = run();
	}

	/** Creates a topic, once the broker answers. */
	public void createTopic(String topic, int partitions) {
		try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap()))) {
			Awaitility.await().atMost(Duration.ofMinutes(3)).ignoreExceptions().until(() -> {
				admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1))).all().get(30, TimeUnit.SECONDS);
				return true;
			});
		}
	}

	/** What the broker has printed. */
	public String output() {
		return this.jvm.output();
	}

	@Override
	public void close() {
		this.jvm.close();
	}

}
