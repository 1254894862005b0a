import { Component, type ComponentChildren } from 'preact';
import { EmptyState } from './states';
import { visibleText } from './visible_text';

interface BoundaryProps {
  /** What is lost when it fails. */
  readonly what: string;
  readonly children: ComponentChildren;
}

/** Keeps a fault in one part of the page from taking the others with it. */
export class Boundary extends Component<BoundaryProps, { fault: string | null }> {
  override state: { fault: string | null } = { fault: null };

  static override getDerivedStateFromError(error: unknown): { fault: string } {
    return { fault: error instanceof Error ? error.message : String(error) };
  }

  override render(): ComponentChildren {
    const { fault } = this.state;
    if (fault === null) return this.props.children;
    return (
      <EmptyState title={`${this.props.what} could not be drawn`} kind="error">
        <p>This is a fault of the viewer, not of the input: {visibleText(fault)}</p>
        <p>The verbs of the program print the same figures.</p>
      </EmptyState>
    );
  }
}
