/**
 * Merge and purge: long work on the dead letters of a queue.
 */
@NullMarked
package io.queuestarter.jobs;

import org.jspecify.annotations.NullMarked;
