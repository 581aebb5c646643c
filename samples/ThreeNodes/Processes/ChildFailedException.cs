namespace ThreeNodes.Processes;

/// <summary>A program is missing, or did not do what it was started for; the message says which and why.</summary>
internal sealed class ChildFailedException(string message) : Exception(message);
