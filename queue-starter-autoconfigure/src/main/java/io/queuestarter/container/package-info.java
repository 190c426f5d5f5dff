/**
 * Composition root: wires the stages of a queue to Spring Kafka's listener container, and
 * leads it through assignment, rebalance and stop.
 * <p>
 * Locks: the dispatcher's is the only one of the engine on the way of a record, and no
 * other is taken while it is held. No user code, commit or send runs under a lock.
 */
@NullMarked
package io.queuestarter.container;

import org.jspecify.annotations.NullMarked;
