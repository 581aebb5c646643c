using Xunit;

namespace FastPort.Core.Tests.Sessions.Lifecycle;

public sealed class CloseReasonTests
{
    [Theory]
    [InlineData(CloseKind.PeerClosed, ErrorCode.None)]
    [InlineData(CloseKind.LocalClosed, ErrorCode.None)]
    [InlineData(CloseKind.HandshakeTimeout, ErrorCode.Unauthenticated)]
    [InlineData(CloseKind.Unauthenticated, ErrorCode.Unauthenticated)]
    [InlineData(CloseKind.MessageTimeout, ErrorCode.Timeout)]
    [InlineData(CloseKind.IdleTimeout, ErrorCode.Timeout)]
    [InlineData(CloseKind.WriteTimeout, ErrorCode.Timeout)]
    [InlineData(CloseKind.HeartbeatTimeout, ErrorCode.Timeout)]
    [InlineData(CloseKind.MemoryLimit, ErrorCode.Overloaded)]
    [InlineData(CloseKind.TakenOver, ErrorCode.DuplicateIdentity)]
    [InlineData(CloseKind.Stopping, ErrorCode.ShuttingDown)]
    [InlineData(CloseKind.Internal, ErrorCode.Internal)]
    public void A_kind_of_reason_has_its_code(CloseKind kind, ErrorCode code) =>
        Assert.Equal(code, new CloseReason(kind, "x").GetErrorCode());

    [Fact]
    public void A_code_given_with_the_reason_goes_before_that_of_its_kind() =>
        Assert.Equal(ErrorCode.Overloaded, new CloseReason(CloseKind.Stopping, "x", (uint)ErrorCode.Overloaded).GetErrorCode());

    [Theory]
    [InlineData("Connections")]
    [InlineData("Transports")]
    public void Layers_that_know_no_message_name_none(string folder)
    {
        DirectoryInfo? root = new(AppContext.BaseDirectory);
        while (root is not null && !File.Exists(Path.Combine(root.FullName, "FastPort.sln")))
        {
            root = root.Parent;
        }

        foreach (string file in Directory.EnumerateFiles(
            Path.Combine(root!.FullName, "src", "FastPort.Transport", folder), "*.cs", SearchOption.AllDirectories))
        {
            string text = File.ReadAllText(file);
            Assert.All(["Framing", "ErrorCode.", "Goodbye", "Hello"], word => Assert.False(
                text.Replace("SocketErrorCode", string.Empty, StringComparison.Ordinal)
                    .Contains(word, StringComparison.Ordinal), $"{file} says '{word}'."));
        }
    }
}
