/**
 * Decides which task runs next and runs it: at most so many at one time, partitions in
 * turn. Pure Java.
 */
@NullMarked
package io.queuestarter.dispatch;

import org.jspecify.annotations.NullMarked;
