namespace FastPort.OpcUa.Client;

/// <summary>The result of a method that was called.</summary>
/// <param name="Status">The method's status.</param>
/// <param name="Outputs">The output arguments.</param>
public readonly record struct MethodCallResult(StatusCode Status, IReadOnlyList<Variant> Outputs);
