package io.queuestarter.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * A network between clients and one listener of a broker, which can be cut, stalled,
 * slowed and healed. <em>Thread-safe.</em>
 * <p>
 * Kafka's clients connect to what a broker advertises, so a broker behind a relay must
 * advertise the relay's port; see {@link Cluster#behind}.
 */
public final class Relay implements AutoCloseable {

	private static final int CHUNK_BYTES = 16 * 1024;

	private final ServerSocket server;

	private final Set<Connection> connections = ConcurrentHashMap.newKeySet();

	/** Volatile; set once before the first client connects. */
	private volatile int target;

	private volatile State state = State.FLOWING;

	private volatile long delayNanosPerChunk;

	/** Opens a port. */
	public Relay() {
		try {
			this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		start("relay", this::accept);
	}

	/** Port to which clients connect. */
	public int port() {
		return this.server.getLocalPort();
	}

	/** Address to which clients connect. */
	public String bootstrap() {
		return "localhost:" + port();
	}

	/** Says to which port of this machine connections lead. */
	public void to(int port) {
		this.target = port;
	}

	/** Resets all connections; new ones are made at once. */
	public void cut() {
		this.connections.forEach(Connection::reset);
	}

	/** Resets all connections, and new ones, until {@link #heal()}. */
	public void refuse() {
		this.state = State.REFUSING;
		cut();
	}

	/** Accepts connections and keeps them, but moves no byte until {@link #heal()}. */
	public void stall() {
		this.state = State.STALLED;
	}

	/**
	 * Moves no byte of the connections of now, ever, as if something on the way had
	 * forgotten them; new ones work.
	 */
	public void forget() {
		this.connections.forEach((connection) -> connection.forgotten = true);
	}

	/** Holds back every chunk of at most 16 KiB for a time, until {@link #heal()}. */
	public void slow(Duration delay) {
		this.delayNanosPerChunk = delay.toNanos();
	}

	/** Moves all bytes again. */
	public void heal() {
		this.delayNanosPerChunk = 0;
		this.state = State.FLOWING;
	}

	private void accept() {
		while (!this.server.isClosed()) {
			try {
				Socket client = this.server.accept();
				Connection connection = new Connection(client);
				this.connections.add(connection);
				start("relay-connection", connection::open);
			}
			catch (IOException ex) {
				// Closed, or the client has gone.
			}
		}
	}

	private static void start(String name, Runnable task) {
		Thread thread = new Thread(task, name);
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public void close() {
		this.state = State.REFUSING;
		try {
			this.server.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		cut();
	}

	private enum State {

		FLOWING, STALLED, REFUSING

	}

	private final class Connection {

		private final Socket client;

		private volatile @Nullable Socket broker;

		private volatile boolean forgotten;

		private volatile boolean ended;

		Connection(Socket client) {
			this.client = client;
		}

		void open() {
			try {
				if (Relay.this.state == State.REFUSING) {
					reset();
					return;
				}
				Socket opened = new Socket(InetAddress.getLoopbackAddress(), Relay.this.target);
				this.broker = opened;
				this.client.setTcpNoDelay(true);
				opened.setTcpNoDelay(true);
				start("relay-answers", () -> pump(opened, this.client));
				pump(this.client, opened);
			}
			catch (IOException ex) {
				reset();
			}
		}

		private void pump(Socket from, Socket to) {
			byte[] chunk = new byte[CHUNK_BYTES];
			try {
				InputStream in = from.getInputStream();
				OutputStream out = to.getOutputStream();
				for (int count = in.read(chunk); count >= 0; count = in.read(chunk)) {
					LockSupport.parkNanos(Relay.this.delayNanosPerChunk);
					while (!this.ended && (this.forgotten || Relay.this.state == State.STALLED)) {
						LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
					}
					out.write(chunk, 0, count);
				}
			}
			catch (IOException ex) {
				// One side has gone: so does the other.
			}
			reset();
		}

		/** Closes both sides with a reset, which is what a broken network looks like. */
		void reset() {
			this.ended = true;
			Relay.this.connections.remove(this);
			reset(this.client);
			reset(this.broker);
		}

		private static void reset(@Nullable Socket socket) {
			if (socket == null) {
				return;
			}
			try (socket) {
				socket.setSoLinger(true, 0);
			}
			catch (IOException ex) {
				// Closed already.
			}
		}

	}

}
