namespace FastPort.Protocol.Tools.Contracts;

/// <summary>What the contracts of one build must fulfill.</summary>
internal static class ContractChecks
{
    private const int FirstNumber = 0x1000;
    private const int LastNumber = 0xFFFF;

    public static IEnumerable<Problem> Check(IReadOnlyList<Contract> contracts)
    {
        ContractMethod[] methods = [.. contracts.SelectMany(c => c.Services).SelectMany(s => s.Methods)];
        return [.. methods.SelectMany(CheckMethod), .. CheckNumbers(methods), .. CheckTypeNames(contracts), .. CheckMethodNames(contracts)];
    }

    private static IEnumerable<Problem> CheckMethod(ContractMethod method)
    {
        if (method.Kind != MethodKind.Unary && method.Run != MethodRun.Queued)
        {
            yield return Problem.Of(
                method,
                Problem.RunOfStream,
                $"{method.FullName} streams, so it always runs on the thread pool; remove (fastport.run) from it.");
        }

        if (method.Run is not (MethodRun.Queued or MethodRun.BeginsOnLoop or MethodRun.Inline))
        {
            yield return Problem.Of(
                method,
                Problem.UnknownRun,
                $"{method.FullName} has (fastport.run) = {(int)method.Run}, which is unknown here; use RUN_QUEUED, RUN_BEGINS_ON_LOOP or "
                + "RUN_INLINE.");
        }

        if (method.Number is not { } number)
        {
            yield return Problem.Of(
                method,
                Problem.NoNumber,
                $"{method.FullName} has no message type; add 'option (fastport.first_type) = 0x1000;' to service "
                + $"{method.Service.Source.Name}, or 'option (fastport.type) = 0x1000;' to the method, with a free number.");
        }
        else if (number is < FirstNumber or > LastNumber)
        {
            yield return Problem.OfNumber(
                method,
                Problem.NumberOutOfRange,
                $"{method.FullName} has message type 0x{number:X4}; choose one from 0x{FirstNumber:X4} to 0x{LastNumber:X4}.");
        }
    }

    private static IEnumerable<Problem> CheckNumbers(ContractMethod[] methods)
    {
        var owners = new Dictionary<long, ContractMethod>();
        foreach (ContractMethod method in methods.Where(m => m.Number is not null))
        {
            long number = method.Number!.Value;
            if (!owners.TryGetValue(number, out ContractMethod? owner))
            {
                owners.Add(number, method);
                continue;
            }

            yield return Problem.OfNumber(
                method,
                Problem.SameNumber,
                $"{method.FullName} and {owner.FullName} both have message type 0x{number:X4}; give one of them another number with "
                + "(fastport.type), or its service with (fastport.first_type).");
        }
    }

    // Types of one namespace: messages and enumerations, and what is generated.
    private static IEnumerable<Problem> CheckTypeNames(IReadOnlyList<Contract> contracts)
    {
        var owners = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (ProtoFile file in contracts.SelectMany(c => c.Files))
        {
            foreach (string type in file.Types)
            {
                owners[$"{file.Namespace}.{type}"] = $"{file.FullName(type)} of {file.Name}";
            }
        }

        foreach (ContractService service in contracts.SelectMany(c => c.Services))
        {
            string space = service.Contract.File.Namespace;
            foreach (string type in new[] { service.Interface, service.Client, service.Base, service.Descriptors })
            {
                string name = $"{space}.{type}";
                if (owners.TryGetValue(name, out string? owner))
                {
                    yield return Problem.Of(
                        service,
                        Problem.SameName,
                        $"Service {service.FullName} generates the class {name.TrimStart('.')}, and so does {owner}; rename one of them.");
                    break;
                }

                owners.Add(name, $"service {service.FullName} of {service.Contract.File.Name}");
            }
        }
    }

    private static IEnumerable<Problem> CheckMethodNames(IReadOnlyList<Contract> contracts)
    {
        foreach (ContractService service in contracts.SelectMany(c => c.Services))
        {
            var owners = new Dictionary<string, string>(StringComparer.Ordinal);
            foreach (ContractMethod method in service.Methods)
            {
                if (owners.TryGetValue(method.Name, out string? owner))
                {
                    yield return Problem.Of(
                        method,
                        Problem.SameName,
                        $"{method.FullName} and {owner} both become {method.Name}Async in C#; rename one of them.");
                }
                else if (method.Name == service.Descriptors || method.Name == service.Base)
                {
                    yield return Problem.Of(
                        method,
                        Problem.SameName,
                        $"{method.FullName} becomes {method.Name} in C#, as a class that is generated for its service; rename the method.");
                }
                else
                {
                    owners.Add(method.Name, method.FullName);
                }
            }
        }
    }
}
