/**
 * Consumer-thread side of the queue: admits polled records within the bounds and says
 * which partitions must pause.
 */
@NullMarked
package io.queuestarter.intake;

import org.jspecify.annotations.NullMarked;
