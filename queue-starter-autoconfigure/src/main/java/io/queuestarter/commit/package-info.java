/**
 * When offsets are committed, and what a commit says.
 */
@NullMarked
package io.queuestarter.commit;

import org.jspecify.annotations.NullMarked;
