/**
 * What applications import.
 */
@NullMarked
package io.queuestarter;

import org.jspecify.annotations.NullMarked;
