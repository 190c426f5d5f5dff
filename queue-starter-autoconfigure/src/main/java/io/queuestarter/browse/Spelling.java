package io.queuestarter.browse;

import java.util.Collection;
import java.util.Comparator;

/**
 * Guesses what somebody meant to write.
 */
public final class Spelling {

	private Spelling() {
	}

	/**
	 * Makes a sentence that names the candidate closest to a word, with a blank in front;
	 * nothing if none is close.
	 * @param word what was written
	 * @param candidates what could have been meant
	 * @return the sentence, or an empty text
	 */
	public static String suggestion(String word, Collection<String> candidates) {
		return candidates.stream()
			.filter((candidate) -> distance(word, candidate) <= Math.max(2, word.length() / 3))
			.min(Comparator.comparingInt((candidate) -> distance(word, candidate)))
			.map((candidate) -> " Did you mean '" + candidate + "'?")
			.orElse("");
	}

	/** Number of single-character edits between two words (Levenshtein). */
	private static int distance(String left, String right) {
		int[] row = new int[right.length() + 1];
		for (int j = 0; j < row.length; j++) {
			row[j] = j;
		}
		for (int i = 1; i <= left.length(); i++) {
			int diagonal = row[0];
			row[0] = i;
			for (int j = 1; j < row.length; j++) {
				int above = row[j];
				int change = (left.charAt(i - 1) == right.charAt(j - 1)) ? 0 : 1;
				row[j] = Math.min(Math.min(row[j - 1], above) + 1, diagonal + change);
				diagonal = above;
			}
		}
		return row[right.length()];
	}

}
