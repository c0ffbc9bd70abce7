/** A foreign text as one line of a log: without breaks, and without other characters that a terminal obeys. */
export const oneLine = (text: string): string => text.replaceAll(/[\p{C}\u2028\u2029]/gu, " ")
