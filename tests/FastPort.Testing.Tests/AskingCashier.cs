using FastPort.Protocol;
using Google.Protobuf;

namespace FastPort.Testing.Tests;

/// <summary>Makes a request by its message type.</summary>
public sealed class AskingCashier(IFastPortClient bank)
{
    public async Task<string> PayOutAsync(string account)
    {
        try
        {
            Echo left = await bank.RequestAsync(0x1001, new Echo { Payload = ByteString.CopyFromUtf8(account) }, Echo.Parser);
            return $"{left.Payload.ToStringUtf8()} left";
        }
        catch (RequestFailedException e) when (e.Code == ErrorCode.Overloaded)
        {
            return "Come back later.";
        }
    }
}
