/**
 * Reads dead letters: what one says, which of them somebody means, and which are
 * resolved.
 */
@NullMarked
package io.queuestarter.browse;

import org.jspecify.annotations.NullMarked;
