namespace FastPort.TestHost;

/// <summary>
/// The transport of the tests that run this program, whose environment is its own: see the class of this name in FastPort.Core.Tests.
/// </summary>
internal static class TransportUnderTest
{
    public static TransportKind Kind { get; } =
        Environment.GetEnvironmentVariable("FASTPORT_TEST_TRANSPORT") is { Length: > 0 } name
            ? Enum.Parse<TransportKind>(name, ignoreCase: true)
            : TransportKind.Auto;
}
