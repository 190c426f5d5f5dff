/**
 * How short sections are guarded.
 */
@NullMarked
package io.queuestarter.lock;

import org.jspecify.annotations.NullMarked;
