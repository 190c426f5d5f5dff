/**
 * The queue beside other ways to consume a topic: same records, same handlers, same
 * broker, in turn.
 */
@NullMarked
package io.queuestarter.benchmarks.compare;

import org.jspecify.annotations.NullMarked;
