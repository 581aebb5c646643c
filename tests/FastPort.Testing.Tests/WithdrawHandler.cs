using FastPort.Protocol;
using Google.Protobuf;

namespace FastPort.Testing.Tests;

// docs: handler
public sealed class WithdrawHandler(IBank bank) : IMessageHandler<Echo, Echo>
{
    public async ValueTask<Echo> HandleAsync(Echo request, RequestContext context)
    {
        if (request.Payload.IsEmpty)
        {
            throw new RequestRefusedException(ErrorCode.MalformedBody, "Name an account.");
        }

        long left = await bank.WithdrawAsync(request.Payload.ToStringUtf8(), context.Aborted);
        return new Echo { Payload = ByteString.CopyFromUtf8($"{left}") };
    }
}

// docs: end
