export function Mark({ size = 28 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 64 64" aria-hidden>
      <rect width="64" height="64" rx="16" fill="#6d4aff" />
      <path d="M20 14v36M20 34c0-8 5-12 11-12s11 4 11 12v16" fill="none" stroke="#fff" strokeWidth="6.5" strokeLinecap="round" />
    </svg>
  );
}
