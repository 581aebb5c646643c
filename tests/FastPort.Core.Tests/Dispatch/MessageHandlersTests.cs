using Xunit;

namespace FastPort.Core.Tests.Dispatch;

/// <summary>What cannot be registered, and why.</summary>
public sealed class MessageHandlersTests
{
    [Theory]
    [InlineData(0x0002, "Type 0x0002 belongs to the framework (0x0000 to 0x00FF); application types are 0x1000 to 0xFFFF.")]
    [InlineData(0x1000, "Type 0x1000 is already registered, as Walk; a type has one handler.")]
    public void A_type_that_is_taken_is_refused(ushort type, string why)
    {
        var handlers = new MessageHandlers();
        handlers.MapQueued(0x1000, static _ => ValueTask.CompletedTask, "Walk");

        ArgumentException refused = Assert.Throws<ArgumentException>(
            () => handlers.MapInline(type, static (ref InlineRequest _) => { }));

        Assert.Equal($"{why} (Parameter 'type')", refused.Message);
    }
}
