/**
 * Decides what becomes of a record when its attempt ends: settled, tried again, or
 * dead-lettered. The first answer wins.
 */
@NullMarked
package io.queuestarter.settle;

import org.jspecify.annotations.NullMarked;
