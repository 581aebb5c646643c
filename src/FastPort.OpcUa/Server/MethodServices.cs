using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>Call (OPC 10000-4, 5.12).</summary>
internal static class MethodServices
{
    public static void Call(in ServiceCall call, ref BinaryDecoder decoder)
    {
        CallRequest request = decoder.ReadStructure<CallRequest>();
        int count = request.MethodsToCall?.Length ?? 0;
        StatusCode refused = !decoder.Error.IsGood ? decoder.Error
            : count == 0 ? StatusCodes.BadNothingToDo
            : count > call.Server.Options.MaxMethodsPerCall ? StatusCodes.BadTooManyOperations
            : StatusCodes.Good;
        if (!refused.IsGood)
        {
            call.Fault(refused);
            return;
        }

        if (RunningCall.TryBegin(call) is not { } running)
        {
            call.Fault(StatusCodes.BadTooManyOperations);
            return;
        }

        _ = CallAllAsync(call, request.MethodsToCall!, running);
    }

    // Methods of one request run one after the other, until their outputs use more memory than any response may in the client. Nothing
    // awaits this: every failure becomes a response.
    private static async Task CallAllAsync(ServiceCall call, CallMethodRequest[] methods, RunningCall running)
    {
        var results = new CallMethodResult[methods.Length];
        long left = EncodingLimits.Default.MemoryFor(call.Channel.LargestResponse);
        for (int i = 0; i < methods.Length && left >= 0 && !running.Token.IsCancellationRequested; i++)
        {
            try
            {
                results[i] = await CallOneAsync(call, methods[i], running).ConfigureAwait(false);
                left -= results[i].OutputArguments?.Sum(static value => ValueBytes.Of(value)) ?? 0;
            }
            catch (Exception e)
            {
                if (!running.Token.IsCancellationRequested)
                {
                    ServerLog.MethodThrew(call.Server.Logger, e, methods[i].MethodId);
                }

                results[i] = new CallMethodResult { StatusCode = StatusCodes.BadInternalError };
            }
        }

        if (!running.End())
        {
            call.Fault(StatusCodes.BadRequestCancelledByClient);
            return;
        }

        if (left < 0)
        {
            call.Fault(StatusCodes.BadResponseTooLarge);
            return;
        }

        try
        {
            Reply(call, results);
        }
        catch (Exception e)
        {
            call.Channel.SendFault(call.RequestId, call.Header.RequestHandle, CallRequest.EncodingIdNumber, e);
        }
    }

    // A response that is too large is not encoded completely: a large value may be the output of all methods.
    private static void Reply(in ServiceCall call, CallMethodResult[] results)
    {
        MessageBuffer buffer = call.Channel.BeginResponse();
        try
        {
            var encoder = new BinaryEncoder(buffer);
            call.Channel.EncodeHeader(ref encoder, CallResponse.EncodingId, call.Header.RequestHandle, StatusCodes.Good);
            encoder.Write(results.Length);
            int largest = call.Channel.LargestResponse;
            for (int i = 0; i < results.Length && encoder.Length <= largest; i++)
            {
                encoder.WriteStructure(results[i]);
            }

            // No diagnostics.
            encoder.Write(-1);
            encoder.Complete();
        }
        catch
        {
            // Its memory counts until it is returned.
            buffer.Dispose();
            throw;
        }

        call.Channel.EndResponse(call.RequestId, call.Header.RequestHandle, buffer);
    }

    private static async ValueTask<CallMethodResult> CallOneAsync(
        ServiceCall call, CallMethodRequest request, RunningCall running)
    {
        AddressSpace space = call.Server.AddressSpace;
        if (space.Find(request.ObjectId) is not { } owner)
        {
            return new CallMethodResult { StatusCode = StatusCodes.BadNodeIdUnknown };
        }

        if (owner.NodeClass is not (NodeClass.Object or NodeClass.ObjectType))
        {
            return new CallMethodResult { StatusCode = StatusCodes.BadNodeIdInvalid };
        }

        if (space.Find(request.MethodId) is not MethodNode method || !HasMethod(owner, method))
        {
            return new CallMethodResult { StatusCode = StatusCodes.BadMethodInvalid };
        }

        Variant[] inputs = request.InputArguments ?? [];
        if (inputs.Length != method.Inputs.Count)
        {
            return new CallMethodResult
            {
                StatusCode = inputs.Length < method.Inputs.Count ? StatusCodes.BadArgumentsMissing : StatusCodes.BadTooManyArguments,
            };
        }

        for (int i = 0; i < inputs.Length; i++)
        {
            if (method.Inputs[i] is { Type: BuiltInType.Byte, IsArray: true })
            {
                inputs[i] = inputs[i].BytesAsArray();
            }
        }

        StatusCode[] checks =
            [.. inputs.Select((value, i) => method.Inputs[i].Accepts(value) ? StatusCodes.Good : StatusCodes.BadTypeMismatch)];
        if (checks.Any(static status => status.IsBad))
        {
            return new CallMethodResult { StatusCode = StatusCodes.BadInvalidArgument, InputArgumentResults = checks };
        }

        MethodResult result = method.SessionHandler is { } handler
            ? handler(call.Session!, running, inputs)
            : await method.Handler(inputs, running.Token).ConfigureAwait(false);
        return new CallMethodResult
        {
            StatusCode = result.Status,
            InputArgumentResults = checks,
            OutputArguments = result.Status.IsBad ? null : result.Outputs,
        };
    }

    // A method of an object may be named by its declaration in the object's type or a supertype of that (OPC 10000-4, 5.12.2.2).
    private static bool HasMethod(Node owner, MethodNode method)
    {
        Node? node = owner;
        while (node is not null && !node.HasComponent(method))
        {
            node = node.NodeClass == NodeClass.Object
                ? node.Target(NodeIds.HasTypeDefinition)
                : node.Target(NodeIds.HasSubtype, isForward: false);
        }

        return node is not null;
    }
}
