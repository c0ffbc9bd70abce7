/** Headings that were elsewhere, or had another name: an old address leads to the new one. */
export const anchors: Readonly<Record<string, string>> = {
  "guide/backend#who-goes-away-and-who-stops-it": "guide/client-disconnects"
}
