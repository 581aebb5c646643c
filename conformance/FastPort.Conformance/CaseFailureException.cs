namespace FastPort.Conformance;

/// <summary>The client under test has failed the case.</summary>
internal sealed class CaseFailureException(string message) : Exception(message);
