/**
 * One record on its way through the queue: its state, its attempts, and which answer
 * counts.
 */
@NullMarked
package io.queuestarter.delivery;

import org.jspecify.annotations.NullMarked;
