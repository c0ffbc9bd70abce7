import type { View } from "./PolicyView.ts"
export const draw = (view: View): string => view.title
