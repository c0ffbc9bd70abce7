import type { View } from "./PolicyView.ts"
export const make = (view: View): string => view.title
